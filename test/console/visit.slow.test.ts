import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../support/wait.js'
import { violations } from './support/axe.js'
import { withBrowser } from './support/browser.js'
import { openWindow } from './support/visit.js'

const POLICY = "default-src 'none'; script-src 'self'; img-src 'self' http://elsewhere.example; connect-src *"

/** Serves a page and its script. */
async function serve (t: Test, script: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    const isPage = url === '/page'
    response.writeHead(200, {
      'content-type': isPage ? 'text/html' : 'text/javascript',
      'content-security-policy': POLICY
    })
    response.end(
      isPage
        ? '<!doctype html><html lang="en"><title>Page</title><main><h1>Page</h1></main><script src="/script.js"></script>'
        : script
    )
  }).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('the browser tells what a page does wrong', withBrowser, async t => {
  const wrongs: Array<[string, string, RegExp]> = [
    ['a broken policy', "document.body.setAttribute('style', 'color: red')", /violation of style-src/],
    ['an error', "throw new Error('lost')", /threw .*lost/],
    ['what is logged as an error', "console.error('trouble')", /^trouble at/],
    [
      'a request to another host',
      "new Image().src = 'http://elsewhere.example/a.png'",
      /^asked http:\/\/elsewhere\.example\/a\.png/
    ],
    ['a socket to another host', "new WebSocket('ws://elsewhere.example/')", /^asked ws:\/\/elsewhere\.example/]
  ]
  for (const [name, script, expected] of wrongs) {
    t.test(name, async t => {
      const { faults } = await openWindow(t, await serve(t, script), { path: '/page' })
      await until(() => faults.some(fault => expected.test(fault)), `${String(expected)} in ${faults.join('\n')}`)
    })
  }
})

t.test('a page without faults has none, and axe sees what is wrong for people', withBrowser, async t => {
  const { page, faults } = await openWindow(t, await serve(t, "document.title = 'Changed'"), { path: '/page' })
  await until(async () => await page.title() === 'Changed')
  t.strictSame(await violations(page), [])
  await page.evaluate("document.querySelector('main').append(document.createElement('button'))")
  t.match(await violations(page), [/button-name/])
  t.strictSame(faults, [])
})
