'use strict';
// A service to try the plugin with: it serves the files of this folder and prints what is posted to it.
const fs = require('fs');
const http = require('http');
const path = require('path');

http.createServer((request, response) => {
  console.log(request.method, request.url);
  if (request.method === 'POST') {
    request.on('end', () => { console.log(); response.end(); }).pipe(process.stdout, { end: false });
    return;
  }
  const file = path.join(__dirname, path.normalize(request.url.split('?')[0]));
  fs.readFile(file, (err, text) => {
    if (err) response.statusCode = 404;
    response.end(text || 'not found');
  });
}).listen(8080, 'localhost', () => console.log('listening on http://localhost:8080'));
