import t from 'tap'
import { browserCommand } from '../../../system/programs/open-browser.js'

t.test('a URL is opened by a program of the system, as one argument and without a shell', async t => {
  const url = new URL('https://example.com/authorize?a=1&b=$(id)')
  t.same(browserCommand(url, 'darwin', {}), ['open', url.href])
  t.same(browserCommand(url, 'win32', {}), ['rundll32', 'url.dll,FileProtocolHandler', url.href])
  t.same(browserCommand(url, 'linux', { DISPLAY: ':0' }), ['xdg-open', url.href])
  t.same(browserCommand(url, 'linux', { WAYLAND_DISPLAY: 'wayland-0' }), ['xdg-open', url.href])
  t.equal(browserCommand(url, 'linux', { DISPLAY: '' }), undefined, 'no display, no browser')
  for (const other of ['file:///etc/passwd', 'javascript:alert(1)']) {
    t.equal(browserCommand(new URL(other), 'darwin', {}), undefined, other)
  }
})
