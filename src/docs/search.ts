import { pages, type Page } from '.'
import { anchorOf } from './anchor'

/** A part of a page: the text below one heading. */
interface Section {
  page: Page
  /** Empty for the text at the top of a page. */
  heading: string
  text: string
}

interface SearchResult {
  page: Page
  heading: string
  href: string
  /** Text around the first word that was found. */
  excerpt: string
}

const maxResults = 30
const maxWords = 8
const excerptLength = 180

let sections: Section[] | null = null

/** Returns the words of a query, in lowercase. Very long queries are cut. */
export const wordsOf = (query: string): string[] =>
  [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_.$/-]*[\p{L}\p{N}_]/gu))].slice(0, maxWords)

/** Finds the sections of the handbook that contain all words, best match first. */
export function search(words: string[]): SearchResult[] {
  if (words.length === 0) return []
  sections ??= pages.flatMap(sectionsOf)
  return sections
    .map(section => ({ section, score: scoreOf(section, words) }))
    .filter(one => one.score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, maxResults)
    .map(({ section: { page, heading, text } }) => ({
      page,
      heading,
      href: `/docs/${page.slug}${heading ? `#${anchorOf(heading)}` : ''}`,
      excerpt: excerptOf(text, words),
    }))
}

/** Splits a page at its headings. A line that starts with `#` in a code block is not a heading. */
export function sectionsOf(page: Page): Section[] {
  const found: Section[] = []
  let isCode = false
  for (const line of page.markdown.split('\n')) {
    if (line.startsWith('```')) {
      isCode = !isCode
      continue
    }
    const heading = isCode ? null : /^(#{1,3}) (.+)$/.exec(line)
    if (heading) found.push({ page, heading: heading[1] === '#' ? '' : plain(heading[2]!), text: '' })
    else if (found.length > 0) found.at(-1)!.text += isCode ? `${line}\n` : `${plain(line)}\n`
  }
  return found
}

/** Removes Markdown syntax. */
export const plain = (line: string): string =>
  line
    .replace(/^\|[-| ]+\|$|^<!--.*-->$/, '')
    .replaceAll(/\]\([^)]*\)/g, '')
    .replaceAll(/\*\*|[`[]|^(?:[-*] |\| )| \|$/g, '')
    .replaceAll(' | ', ' · ')

/** Matches in headings and titles count more than matches in the text. Zero if a word is missing. */
function scoreOf({ page, heading, text }: Section, words: string[]): number {
  const [title, head, body] = [page.title.toLowerCase(), heading.toLowerCase(), text.toLowerCase()]
  let score = 0
  for (const word of words) {
    const inBody = Math.min(body.split(word).length - 1, 4)
    const inTitle = title.includes(word) ? (heading ? 3 : 20) : 0
    const inHeading = head.includes(word) ? 10 : 0
    if (inBody + inTitle + inHeading === 0) return 0
    score += inBody + inTitle + inHeading + (isWord(title, word) || isWord(head, word) ? 4 : 0)
  }
  // Old changes are rarely the answer.
  return page.slug === 'changelog' ? score / 4 : score
}

const isWord = (text: string, word: string) => text.split(/[^\p{L}\p{N}_]+/u).includes(word)

function excerptOf(text: string, words: string[]): string {
  const joined = text.replaceAll(/\s+/g, ' ').trim()
  const at = Math.max(joined.toLowerCase().search(new RegExp(words.map(word => RegExp.escape(word)).join('|'))), 0)
  if (joined.length <= excerptLength) return joined
  const start = at < 60 ? 0 : joined.lastIndexOf(' ', at - 50) + 1
  const end = start + excerptLength >= joined.length ? joined.length : joined.lastIndexOf(' ', start + excerptLength)
  return `${start > 0 ? '… ' : ''}${joined.slice(start, end)}${end < joined.length ? ' …' : ''}`
}
