import { XMLParser } from 'fast-xml-parser'

/** An element of an XML document, with its namespace resolved. */
export interface XmlElement {
  /** URI of the namespace; empty without one. */
  namespace: string
  /** Without the prefix. */
  name: string
  /** Attributes by name, as written. */
  attributes: ReadonlyMap<string, string>
  children: XmlElement[]
  /** Its own text without the text of its children, trimmed. */
  text: string
}

/** Maximum size of a document in characters. */
export const maxXmlLength = 128 * 1024
/** Maximum number of tags, attributes, and references. It bounds the time that parsing takes. */
const maxMarkup = 5000
const maxDepth = 32
/** Maximum number of namespaces in scope. They are copied for each element that declares another one. */
const maxNamespaces = 50

/** Prefix of attributes in parsed elements. */
const mark = '@'

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: mark,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  // Numeric references.
  htmlEntities: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  maxNestedTags: maxDepth,
})

/**
 * Parses an XML document of another system. Nothing is loaded, and a document type isn’t accepted, so there are no entities other than the
 * predefined ones.
 * @returns the root; null if the document is not well-formed, or larger or deeper than any that is expected
 */
export function parseXml(text: string): XmlElement | null {
  if (text.length > maxXmlLength || /<!DOCTYPE/i.test(text) || hasTooMuchMarkup(text)) return null
  try {
    const parsed: unknown = parser.parse(text, true)
    const { elements, text: around } = nodesOf(parsed, new Map([['xml', 'http://www.w3.org/XML/1998/namespace']]))
    return elements.length === 1 && around === '' ? elements[0]! : null
  } catch {
    return null
  }
}

/** The first child with this name in the same namespace, or in another one. */
export const childOf = (parent: XmlElement | null | undefined, name: string, namespace = parent?.namespace): XmlElement | null =>
  parent?.children.find(one => one.name === name && one.namespace === namespace) ?? null

/** All children with this name in the same namespace, or in another one. */
export const childrenOf = (parent: XmlElement | null | undefined, name: string, namespace = parent?.namespace): XmlElement[] =>
  parent?.children.filter(one => one.name === name && one.namespace === namespace) ?? []

/** Text of a child; null without the child, or if it is empty. */
export const childText = (parent: XmlElement | null | undefined, name: string): string | null =>
  childOf(parent, name)?.text || null

/** Escapes text for XML, and removes characters that XML can’t contain. */
export const xmlText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll(/[[\p{Cc}\ufffe\uffff]--[\t\n\r]]/gv, '')
    .replaceAll(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)

function hasTooMuchMarkup(text: string): boolean {
  let count = 0
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === lessThan || character === equals || character === ampersand) count++
  }
  return count > maxMarkup
}

const [lessThan, equals, ampersand] = [60, 61, 38]

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

type Prefixes = ReadonlyMap<string, string>

/** Children and text of an element. Parsed elements are objects with their name and, under `:@`, their attributes. */
function nodesOf(nodes: unknown, prefixes: Prefixes): { elements: XmlElement[]; text: string } {
  const elements: XmlElement[] = []
  let text = ''
  for (const node of Array.isArray(nodes) ? nodes : []) {
    if (!isObject(node)) continue
    const { ':@': attributes, '#text': content, ...named } = node
    if (typeof content === 'string') text += content
    for (const [name, inner] of Object.entries(named)) elements.push(elementOf(name, inner, attributes, prefixes))
  }
  return { elements, text: text.trim() }
}

function elementOf(qualified: string, inner: unknown, parsed: unknown, outer: Prefixes): XmlElement {
  const attributes = new Map<string, string>()
  for (const [name, value] of Object.entries(isObject(parsed) ? parsed : {}))
    if (typeof value === 'string') attributes.set(name.slice(mark.length), value)
  const declared = [...attributes].flatMap(([name, uri]): [string, string][] => {
    if (name === 'xmlns') return [['', uri]]
    return name.startsWith('xmlns:') ? [[name.slice(6), uri]] : []
  })
  const prefixes = declared.length === 0 ? outer : new Map([...outer, ...declared])
  if (prefixes.size > maxNamespaces) throw new Error('too many namespaces')
  const colon = qualified.indexOf(':')
  const prefix = qualified.slice(0, Math.max(colon, 0))
  const namespace = prefixes.get(prefix)
  // Namespaces in XML 1.0, section 5: prefixes must be declared.
  if (namespace === undefined && prefix !== '') throw new Error('undeclared prefix')
  const { elements, text } = nodesOf(inner, prefixes)
  return { namespace: namespace ?? '', name: qualified.slice(colon + 1), attributes, children: elements, text }
}
