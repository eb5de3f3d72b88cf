'use strict';
// A service to try the plugin with: it serves the files of this folder and prints what is sent to it.
const fs = require('fs');
const http = require('http');
const path = require('path');

const port = Number(process.env.PORT) || 8080;

http.createServer((request, response) => {
  console.log(request.method, request.url);
  if (!['GET', 'HEAD'].includes(request.method)) {
    request.on('end', () => { console.log(); response.end(); }).pipe(process.stdout, { end: false });
    return;
  }
  const file = path.join(__dirname, path.normalize(request.url.split('?')[0]));
  fs.readFile(file, (err, text) => {
    if (err) response.statusCode = 404;
    response.end(text || 'not found');
  });
}).listen(port, 'localhost', () => console.log(`listening on http://localhost:${port}`));
