import type { OutputUnit } from '@cfworker/json-schema'
import type { Json } from '../../client/contract.js'
import { wordFor } from './shape.js'

type Words = (limit: Json | undefined, error: string) => string

const several = (limit: Json | undefined, one: string): string =>
  `${JSON.stringify(limit)} ${one}${limit === 1 ? '' : 's'}`
const listed = (limit: Json | undefined): string =>
  (Array.isArray(limit) ? limit : [limit]).map(type => wordFor(type)).join(' or ')

/** More choices than this are not repeated in an error. */
const MAX_CHOICES = 10

const WORDS = new Map<string, Words>([
  ['type', limit => `This must be: ${listed(limit)}.`],
  ['required', () => 'This is required.'],
  [
    'dependentRequired',
    (_, error) =>
      `This is required, too: ${error.toLowerCase().startsWith('instance has') ? 'another field asks for it' : error}.`
  ],
  [
    'dependencies',
    (_, error) => (error.includes('but does not have "') ? 'This is required, too: another field asks for it.' : '')
  ],
  ['const', limit => `This must be ${JSON.stringify(limit)}.`],
  [
    'enum',
    limit =>
      Array.isArray(limit) && limit.length <= MAX_CHOICES
        ? `This must be one of ${limit.map(value => JSON.stringify(value)).join(', ')}.`
        : 'This is not one of the choices.'
  ],
  ['minLength', limit => `This needs at least ${several(limit, 'character')}.`],
  ['maxLength', limit => `This may have at most ${several(limit, 'character')}.`],
  ['minimum', limit => `This must be ${JSON.stringify(limit)} or more.`],
  ['maximum', limit => `This must be ${JSON.stringify(limit)} or less.`],
  ['exclusiveMinimum', limit => `This must be more than ${JSON.stringify(limit)}.`],
  ['exclusiveMaximum', limit => `This must be less than ${JSON.stringify(limit)}.`],
  ['multipleOf', limit => `This must be a multiple of ${JSON.stringify(limit)}.`],
  ['minItems', limit => `This needs at least ${several(limit, 'item')}.`],
  ['maxItems', limit => `This may have at most ${several(limit, 'item')}.`],
  ['minProperties', limit => `This needs at least ${several(limit, 'field')}.`],
  ['maxProperties', limit => `This may have at most ${several(limit, 'field')}.`],
  [
    'uniqueItems',
    (_, error) =>
      `No two items may be the same: ${error.replace(/^Duplicate items at indexes (\d+) and (\d+)\.$/, (_all, first: string, second: string) => `items ${Number(first) + 1} and ${Number(second) + 1} are`)}.`
  ],
  ['pattern', limit => `This must match the pattern ${String(limit)}.`],
  ['format', limit => `This must be ${formatWords(String(limit))}.`],
  ['false', () => 'The schema does not allow this here.'],
  ['not', () => 'The schema forbids this value.'],
  ['oneOf', (_, error) => (/\((?!0 )/.test(error) ? 'This fits more than one variant; it must fit one only.' : '')],
  ['contains', () => 'No item is as the schema asks.'],
  ['minContains', () => 'Too few items are as the schema asks.'],
  ['maxContains', () => 'Too many items are as the schema asks.'],
  ['propertyNames', () => 'A field has a name that the schema does not allow.']
])

/** An error of the validator for people; undefined for those that only say that something inside is wrong. */
export function errorWords ({ keyword, error }: OutputUnit, limit: Json | undefined): string | undefined {
  const words = WORDS.get(keyword)?.(limit, error)
  return words === '' ? undefined : words
}

const FORMATS = new Map([
  ['date', 'a date such as 2026-01-31'],
  ['time', 'a time such as 12:00:00Z'],
  ['date-time', 'a date and time such as 2026-01-31T12:00:00Z'],
  ['duration', 'a duration such as PT15M'],
  ['email', 'an email address'],
  ['uri', 'a whole URL such as https://example.com/'],
  ['url', 'a whole URL such as https://example.com/'],
  ['uri-reference', 'a URL or a part of one'],
  ['uuid', 'a UUID'],
  ['ipv4', 'an IPv4 address'],
  ['ipv6', 'an IPv6 address'],
  ['hostname', 'a host name']
])

/** A format of JSON Schema in words. */
export const formatWords = (format: string): string => FORMATS.get(format) ?? `of the format ${format}`
