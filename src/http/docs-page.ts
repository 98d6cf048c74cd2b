/**
 * The explorer at /docs/explorer, which sends requests: Swagger UI from this server, so that it works offline.
 * @module
 */

/** `note`: one line above everything, in the page's own style; plain text of our own, with nothing to escape. */
export const docsPage = (note: string | undefined): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bursar API explorer</title>
    <link rel="stylesheet" href="/docs/assets/swagger-ui.css">
    <link rel="icon" href="/docs/assets/favicon-32x32.png">
  </head>
  <body>${note === undefined ? '' : `\n    <div class="swagger-ui"><p class="wrapper">${note}</p></div>`}
    <div id="swagger-ui" data-url="/openapi.json"></div>
    <script src="/docs/assets/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

export const docsScript = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, persistAuthorization: false });\n`;
