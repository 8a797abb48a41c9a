import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sourcePlace } from './source-place.js'

const MAX_FRAMES = 10
/** How many frames are shown of a stack without any file of the author. */
const FEW = 3

/** The folder of this package: its code runs in `dist/`, and in `build/` in tests. */
const [, ROOT = ''] = /^(.*\/)(?:dist|build)\//.exec(fileURLToPath(import.meta.url)) ?? []
/**
 * Its own code, also by the names that source maps give it. `tools/`, `resources/` and `prompts/` are where authors
 * work, too.
 */
const INTERNAL =
  /^(?:dist|build|cli|lib|loader|node_modules|options|plugins|protocol|routes|stores|system|transports|upstreams)\/|^(?:app|cli|gateway|http-server|options|version)\.ts:/

/**
 * The frames of the author's own files, with paths relative to `cwd`; the first frames of the stack if there are none.
 */
export function ownFrames (stack: string, cwd: string): string[] {
  const frames = stack.split('\n').filter(line => /^\s+at /.test(line)).map(toSource)
  const own = frames.filter(frame => isOwn(placeOf(frame)))
  return (own.length > 0 ? own.slice(0, MAX_FRAMES) : frames.slice(0, FEW)).map(frame => shorten(frame, cwd))
}

function toSource (line: string): string {
  const frame = line.trim().replace(/file:\/\/[^:)]+/, url => fileURLToPath(url))
  const place = placeOf(frame)
  return place.startsWith(`${ROOT}dist/`) ? frame.replace(place, sourcePlace(place)) : frame
}

/** File, line and column of a frame: `at run (/home/ada/weather.ts:3:9)`. */
const placeOf = (frame: string): string => /\((.*)\)$/.exec(frame)?.[1] ?? frame.replace(/^at (?:async )?/, '')

function isOwn (place: string): boolean {
  if (!place.startsWith('/') || place.includes('/node_modules/')) return false
  return !place.startsWith(ROOT) || !INTERNAL.test(place.slice(ROOT.length))
}

function shorten (frame: string, cwd: string): string {
  const place = placeOf(frame)
  const path = place.startsWith('/') ? relative(cwd, place) : place
  return path.startsWith('..') ? frame : frame.replace(place, path)
}
