import t from 'tap'
import { sessionOf } from '../../../system/clipboard/desktop-session.js'

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
