// Answers as Netlify does, by its own engine, with the rules of a _redirects file. Files do not exist, so what no
// rule redirects is not found.
//
//   node netlify_redirects.cjs ENGINE FILE PORT
const fs = require("node:fs");
const http = require("node:http");

const [engine, file, port] = process.argv.slice(2);

require(engine)
  .parsePlain(fs.readFileSync(file, "utf8"), {})
  .then((rules) => {
    const server = http.createServer((request, response) => {
      const [path, query = ""] = request.url.split("?");
      const match = rules.match({
        scheme: "https",
        host: request.headers.host,
        path: decodeURIComponent(path),
        query,
        headers: {},
        cookieValues: {},
        getHeader: () => "",
        getCookie: () => "",
      });
      response.writeHead(match ? match.status : 404, match ? { Location: match.to } : {});
      response.end();
    });
    server.listen(port, "127.0.0.1");
  });
