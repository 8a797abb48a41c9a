import { defaultTreeAdapter, parse, type DefaultTreeAdapterTypes as Tree } from 'parse5'
import { SearchFailure } from './failure.js'

export interface Result { title: string, url: string, snippet: string }

// A page of results has about 600. Unclosed formatting elements can produce millions from a few thousand bytes.
const MAX_ELEMENTS = 20_000

/**
 * The first results on a page, without advertisements. Throws if it is not a page of results, so that an empty list
 * means that nothing was found.
 */
export function readResults (html: string, base: URL, max: number): Result[] {
  const document = treeOf(html)
  const all = [...nodes(document)].filter(defaultTreeAdapter.isElementNode)
  const blocks = all.filter(isResult)
  const results = blocks.filter(block => !isAd(block, base)).flatMap(block => resultOf(block, base) ?? [])
  if (results.length > 0) return results.slice(0, max)
  if (all.some(asksForProof)) {
    throw new SearchFailure('The search service asks for proof that a person is searching; try again later')
  }
  if (all.some(saysNothingFound) || (blocks.length > 0 && blocks.every(block => isAd(block, base)))) return []
  throw new SearchFailure('The search service sent something that is not a results page')
}

function treeOf (html: string): Tree.Document {
  let elements = 0
  const treeAdapter: typeof defaultTreeAdapter = {
    ...defaultTreeAdapter,
    createElement: (...element) => {
      if (++elements > MAX_ELEMENTS) {
        throw new SearchFailure('The search service sent something that is not a results page')
      }
      return defaultTreeAdapter.createElement(...element)
    }
  }
  return parse(html, { treeAdapter, scriptingEnabled: false })
}

function resultOf (block: Tree.Element, base: URL): Result | undefined {
  const parts = partsOf(block)
  const link = firstWithText(parts.filter(isLink))
  const url = link && targetOf(attribute(link.element, 'href'), base)
  if (link === undefined || url === undefined) return undefined
  const snippet = firstWithText(parts.filter(part => hasClass(part, 'result__snippet')))
  return { title: link.text, url: url.href, snippet: snippet?.text ?? '' }
}

// An unclosed link leaves empty copies of itself in the elements after it. Only the first few are checked, since a
// hostile page may nest thousands.
const firstWithText = (elements: Tree.Element[]): { element: Tree.Element, text: string } | undefined =>
  elements.slice(0, 8).map(element => ({ element, text: textOf(element) })).find(({ text }) => text !== '')

const isResult = (element: Tree.Element): boolean => hasClass(element, 'result')
const isLink = (element: Tree.Element): boolean => element.tagName === 'a' && hasClass(element, 'result__a')
const isAd = (block: Tree.Element, base: URL): boolean =>
  hasClass(block, 'result--ad') ||
  partsOf(block).some(part => isLink(part) && isAdvertising(attribute(part, 'href'), base))
const asksForProof = (element: Tree.Element): boolean =>
  classesOf(element).some(name => name.startsWith('anomaly-modal'))
const saysNothingFound = (element: Tree.Element): boolean =>
  hasClass(element, 'no-results') || hasClass(element, 'result--no-result')

// If a result is not closed, the next one is inside it, and counts as a result of its own.
const partsOf = (block: Tree.Element): Tree.Element[] =>
  [...nodes(block, element => !isResult(element))].filter(defaultTreeAdapter.isElementNode)

function textOf (element: Tree.Element): string {
  const texts = [...nodes(element, ({ tagName }) => tagName !== 'script' && tagName !== 'style')].filter(
    defaultTreeAdapter.isTextNode
  )
  return texts.map(({ value }) => value).join('').replace(/[\s\p{Cc}]+/gu, ' ').trim()
}

const attribute = ({ attrs }: Tree.Element, name: string): string => attrs.find(attr => attr.name === name)?.value ?? ''
const classesOf = (element: Tree.Element): string[] => attribute(element, 'class').split(/\s+/)
const hasClass = (element: Tree.Element, name: string): boolean => classesOf(element).includes(name)

/** All nodes inside, in document order. Not recursive, because the depth of a page is up to its sender. */
function * nodes (
  root: Tree.ParentNode,
  enters: (element: Tree.Element) => boolean = () => true
): Generator<Tree.ChildNode> {
  const waiting = root.childNodes.toReversed()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node
    if (!defaultTreeAdapter.isElementNode(node) || !enters(node)) continue
    for (let last = node.childNodes.length - 1; last >= 0; last--) waiting.push(node.childNodes[last] as Tree.ChildNode)
  }
}

/** The URL that the link of a result finally leads to; undefined if it is not http or https. */
function targetOf (href: string, base: URL): URL | undefined {
  const link = resolve(href, base)
  const target = link !== undefined && isRedirecting(link, base) ? resolve(link.searchParams.get('uddg') ?? '') : link
  return target !== undefined && ['http:', 'https:'].includes(target.protocol) ? target : undefined
}

/** True for a link that counts a click on an advertisement, directly or behind the redirecting link. */
function isAdvertising (href: string, base: URL): boolean {
  const target = targetOf(href, base)
  return target !== undefined && isOfService(target, base) && target.pathname === '/y.js'
}

const isRedirecting = (link: URL, base: URL): boolean => isOfService(link, base) && link.pathname === '/l/'
const isOfService = ({ hostname, host }: URL, base: URL): boolean =>
  /^(.+\.)?duckduckgo\.com$/.test(hostname) || host === base.host

// An empty link would lead back to the page itself.
const resolve = (href: string, base?: URL): URL | undefined =>
  href.trim() !== '' && URL.canParse(href, base?.href) ? new URL(href, base) : undefined
