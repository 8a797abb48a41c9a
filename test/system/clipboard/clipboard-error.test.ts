import t from 'tap'
import { clipboardFailure, sessionOf, type Session } from '../../../system/clipboard/clipboard-error.js'

t.test('errors of the library become our texts, with a hint that fits the desktop session', async t => {
  const DISPLAY =
    "Clipboard access requires a display server (X11 or Wayland). This doesn't work in headless environments."
  const XSEL =
    "Couldn't find the `xsel` binary and fallback didn't work. On Debian/Ubuntu you can install xsel with: sudo apt install xsel"
  const MESSAGES: Array<[message: string, session: Session, expected: string, hint: RegExp]> = [
    [DISPLAY, 'x11', 'No display environment available', /DISPLAY.*Xvfb/],
    [DISPLAY, 'wayland', 'No display environment available', /apt install wl-clipboard/],
    [XSEL, 'x11', 'xsel was not found', /apt install xsel/],
    [XSEL, 'wayland', 'wl-clipboard does not work', /apt install wl-clipboard/],
    [
      'Both xsel and fallback failed',
      'x11',
      'The clipboard program of this system failed',
      /xsel --clipboard --output/
    ],
    ['Command `wl-paste` failed', 'wayland', 'The clipboard program of this system failed', /wl-paste/],
    ['Command failed: pbpaste', 'other', 'The clipboard program of this system failed', /other programs/]
  ]
  for (const [message, session, expected, hint] of MESSAGES) {
    t.match(clipboardFailure(new Error(message), session), { message: expected, hint }, `${message} (${session})`)
  }
  t.match(clipboardFailure('no error at all', 'x11'), { message: 'The clipboard program of this system failed' })
})

t.test('nothing that a library quotes is passed on', async t => {
  const failure = clipboardFailure(
    Object.assign(new Error('Command failed: xsel\nTOP SECRET'), { stdout: 'TOP SECRET' }),
    'x11'
  )
  t.notMatch([failure.message, failure.hint, failure.cause, JSON.stringify(failure)].join(), 'TOP SECRET')
})

t.test('the environment shows what a clipboard depends on', async t => {
  const session = (platform: string, env = {}, release = '6.1.0-generic') => sessionOf(platform, env, release)
  t.equal(session('linux'), 'none')
  t.equal(session('linux', { DISPLAY: '', WAYLAND_DISPLAY: '' }), 'none')
  t.equal(session('linux', { DISPLAY: ':0' }), 'x11')
  t.equal(session('linux', { DISPLAY: ':0', XDG_SESSION_TYPE: 'wayland' }), 'wayland')
  t.equal(session('linux', { WAYLAND_DISPLAY: 'wayland-0' }), 'wayland')
  t.equal(session('linux', {}, '5.15.153.1-microsoft-standard-WSL2'), 'other')
  t.equal(session('darwin'), 'other')
  t.equal(session('win32'), 'other')
})
