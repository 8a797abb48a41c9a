// The views that are loaded when one of them is opened, as one script: what they share with the page is not split
// further, so that the page itself needs few files.
export { AppFrame } from '../apps/app-frame.js'
export { Operate } from '../operate/operate.js'
export { Watch } from '../watch/watch.js'
