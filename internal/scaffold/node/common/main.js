#!/usr/bin/env node
'use strict';
// The Dogwatch plugin @id@. build.sh sets the version.
const { serve } = require('./sdk/node');

serve({ version: process.env.PLUGIN_VERSION || 'dev', @list@: { @name@: require('./@kind@') } });
