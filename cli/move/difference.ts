import { lineDiff } from '../../lib/line-diff.js'
import { visible } from '../../lib/one-line.js'
import { painter } from '../pretty/pretty-log.js'
import { isSecret } from './hide-secrets.js'

const HIDDEN = '***'
/**
 * The longest line that is shown, in characters: patterns have a stack. A part of one is not shown either, as a secret
 * could begin in it whose name and end are elsewhere.
 */
const LONGEST = 256 * 1024
/** A shorter value may be part of any text. */
const SHORTEST = 6
const TOKEN = /\b(?:sk|gh[opsu]|github_pat|glpat|xox[abpres]|AKIA|AIza|lin_api|eyJ)[-_.A-Za-z0-9]{12,}/g
/** A name and its value in JSON, TOML and YAML. */
const QUOTED = /(["']?)([\w.-]+)\1(\s*[:=]\s*)(?:"((?:[^"\\]|\\.)*)"|'([^']*)')/g
/** The user and the password of a URL. */
const USER = /\b([a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'/@:]*:)([^\s"']+)@/gi
/** A parameter in the query of a URL. */
const PARAMETER = /([?&])([\w.-]+)=([^&#"'\s]+)/g
const BARE = /^(\s*(?:- )?)([\w.-]+)(: +)([^"'\s].*)$/

/** Hides what may be a secret in one line of a file: the given values, and those whose names say so. */
export function hideInLine (line: string, secrets: readonly string[]): string {
  const known = [...secrets]
    .filter(({ length }) => length >= SHORTEST)
    .sort((one, other) => other.length - one.length)
    .reduce((left, secret) => left.replaceAll(secret, HIDDEN).replaceAll(inJson(secret), HIDDEN), line)
  return known
    .replace(QUOTED, (whole, quote: string, name: string, mark: string, value?: string, other = '') =>
      isSecret(name, value ?? other) ? `${quote}${name}${quote}${mark}"${HIDDEN}"` : whole)
    .replace(BARE, (whole, head: string, name: string, mark: string, value: string) =>
      isSecret(name, value) ? `${head}${name}${mark}${HIDDEN}` : whole)
    .replace(USER, (whole, head: string, password: string) => password.startsWith('${') ? whole : `${head}${HIDDEN}@`)
    .replace(PARAMETER, (whole, mark: string, name: string, value: string) =>
      isSecret(name, value) ? `${mark}${name}=${HIDDEN}` : whole)
    .replace(TOKEN, HIDDEN)
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** The lines of a difference for people, without secrets; with colours where `terminal` has them. */
export function describeDifference (
  file: string,
  before: string,
  after: string,
  { secrets, terminal }: { secrets: readonly string[], terminal: boolean }
): string[] {
  const paint = painter(process.env, terminal)
  const shown = (line: string): string => line.length > LONGEST
    ? `${line.slice(0, 1)}… (a line of ${line.length - 1} characters)`
    : hideInLine(line.replace(/\r$/, ''), secrets).split('\t').map(visible).join('\t')
  const lines = lineDiff(before, after).map(shown)
  return [
    `--- ${before === '' ? '(new file)' : file}`,
    `+++ ${file}`,
    ...lines.map(line =>
      line.startsWith('+') ? paint('green', line) : line.startsWith('-') ? paint('red', line) : line)
  ]
}
