/** Pages shaped like those of html.duckduckgo.com/html. */
export const page = (
  ...blocks: string[]
): string => `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<!--[if IE 6]><html class="ie6" xmlns="http://www.w3.org/1999/xhtml"><![endif]-->
<html xmlns="http://www.w3.org/1999/xhtml">
<head>
  <meta http-equiv="content-type" content="text/html; charset=UTF-8" />
  <title>MCP protocol at DuckDuckGo</title>
  <link title="DuckDuckGo (HTML)" type="application/opensearchdescription+xml" rel="search" href="//duckduckgo.com/opensearch_html_v2.xml" />
</head>
<body class="body--html">
  <a name="top" id="top"></a>
  <form action="/html/" method="post"><input name="q" autocomplete="off" class="search__input" type="text" value="MCP protocol" /></form>
  <div><div class="serp__results"><div id="links" class="results">
${blocks.join('\n')}
    <div class="nav-link"><form action="/html/" method="post"><input type="submit" class="btn btn--alt" value="Next" /></form></div>
    <div class="feedback-btn"><a rel="nofollow" href="//duckduckgo.com/feedback.html" target="_new">Feedback</a></div>
  </div></div></div>
</body>
</html>`

/** A link as the service gives it, with the target as a parameter. */
export const redirecting = (url: string): string => `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=0f5d2a`

export const result = (title: string, href: string, snippet?: string, kind = 'web-result'): string => `
    <div class="result results_links results_links_deep ${kind} ">
      <div class="links_main links_deep result__body">
        <h2 class="result__title">
          <a rel="nofollow" class="result__a" href="${href}">${title}</a>
        </h2>
        <div class="result__extras"><div class="result__extras__url">
          <span class="result__icon"><a rel="nofollow" href="${href}"><img class="result__icon__img" width="16" height="16" alt="" src="//external-content.duckduckgo.com/ip3/a.ico" name="i15" /></a></span>
          <a class="result__url" href="${href}">a.example/shown</a>
        </div></div>
        ${snippet === undefined ? '' : `<a class="result__snippet" href="${href}">${snippet}</a>`}
        <div class="clear"></div>
      </div>
    </div>`

export const adLink =
  'https://duckduckgo.com/y.js?ad_domain=shop.example&amp;ad_provider=bingv7aa&amp;u3=https%3A%2F%2Fwww.bing.com%2Faclick'
export const ad = result('Buy protocols', adLink, '<b>Cheap</b> protocols', 'result--ad')

export const noResults = page(`
    <div class="result results_links results_links_deep result--no-result">
      <div class="links_main links_deep result__body">
        <h2 class="result__title"><a rel="nofollow" class="result__a" href=""></a></h2>
        <div class="no-results">No results found for <b>xyzzy</b>.</div>
      </div>
    </div>`)

export const anomaly = `<!DOCTYPE html>
<html><head><title>DuckDuckGo</title></head><body>
<form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&cc=botnet" method="POST">
  <div class="anomaly-modal__mask"><div class="anomaly-modal__modal is-ie" data-testid="anomaly-modal">
    <div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
    <div class="anomaly-modal__description">Please complete the following challenge to confirm this search was made by a human.</div>
    <div class="anomaly-modal__box"><img class="anomaly-modal__image" src="../assets/anomaly/images/challenge/a.jpg" /></div>
  </div></div>
</form></body></html>`

export const three = page(
  ad,
  result(
    'Model Context <b>Protocol</b>',
    redirecting('https://modelcontextprotocol.io/docs?a=1&b=2'),
    'The <b>MCP</b> is an open\n   protocol &amp; more.'
  ),
  result('Specification', 'https://spec.example/mcp', 'Read it&#x27;s here'),
  result('Servers', redirecting('https://github.com/modelcontextprotocol/servers'), 'Reference servers')
)

/** The results on the page above. */
export const found = [
  {
    title: 'Model Context Protocol',
    url: 'https://modelcontextprotocol.io/docs?a=1&b=2',
    snippet: 'The MCP is an open protocol & more.'
  },
  { title: 'Specification', url: 'https://spec.example/mcp', snippet: "Read it's here" },
  { title: 'Servers', url: 'https://github.com/modelcontextprotocol/servers', snippet: 'Reference servers' }
]
