import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export const ROOT = new URL('../../../', import.meta.url)

export interface Instruction { name: string, text: string }

/** The instructions of deploy/Dockerfile, each on one line. */
export function instructions (): Instruction[] {
  const lines = deployed('Dockerfile')
    .split('\n')
    .filter(line => !/^\s*(#|$)/.test(line))
    .join('\n')
    .replaceAll(/\s*\\\n\s*/g, ' ')
    .split('\n')
  return lines.map(line => ({ name: line.split(' ')[0] ?? '', text: line.slice(line.indexOf(' ') + 1) }))
}

/** The variables that the image sets. */
export function environmentOf (steps: Instruction[]): Record<string, string> {
  const pairs = steps
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text }) => text.split(' '))
    .map(pair => pair.split('='))
  return Object.fromEntries(pairs.map(([name = '', value = '']) => [name, value]))
}

/** A service of deploy/compose.yaml, with the members that all of them or some of them have. */
export interface Service {
  image: string
  environment?: Record<string, string>
  command?: string[]
  entrypoint?: string[]
  volumes?: string[]
  ports?: string[]
  networks?: string[]
  profiles?: string[]
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test?: string[], disable?: boolean }
  build?: { context: string, dockerfile: string }
  read_only: boolean
  cap_drop: string[]
  security_opt: string[]
  stop_grace_period?: string
}

/** The services of deploy/compose.yaml, with the defaults of its variables. */
export function services (): Record<string, Service> {
  const withDefault = (_name: unknown, value: unknown): unknown =>
    typeof value === 'string' ? value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1') : value
  return (parse(deployed('compose.yaml'), withDefault, { merge: true }) as { services: Record<string, Service> })
    .services
}

/** The directives of deploy/patchbay@.service, each with its values. */
export function directives (): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [, name = '', value = ''] of deployed('patchbay@.service').matchAll(/^(\w+)=(.*)$/gm)) {
    found.set(name, [...(found.get(name) ?? []), value])
  }
  return found
}

export const deployed = (name: string): string => readFileSync(new URL(`deploy/${name}`, ROOT), 'utf8')
