import { Marked } from 'marked'
import { problemKinds, type ProblemCode } from '../core/problem'
import { version } from '../core/version'
import { groups, pages, type Page } from '.'
import { anchorOf } from './anchor'
import { search, wordsOf } from './search'

/** Renders a handbook page as an HTML document. Null if there is no such page. */
export function pageHtml(slug: string): string | null {
  const page = pages.find(one => one.slug === slug)
  if (!page) return null
  const [heading, text] = html(page.markdown).split(/(?<=<\/h1>)/, 2) as [string, string]
  const links = contents(page.markdown)
  // Narrow screens have no space for the list next to the text, so it is in the text, closed.
  const inText = links && `<details class="contents"><summary>On this page</summary>${links}</details>`
  const atSide = links && `<nav class="contents" aria-label="On this page"><p>On this page</p>${links}</nav>`
  return layout(page.title, page.slug, heading + inText + text + around(page), { aside: atSide })
}

/** Renders the results of a search in the handbook. */
export function searchHtml(query: string): string {
  const words = wordsOf(query)
  const results = search(words)
  const count = results.length === 0 ? 'No results' : results.length === 1 ? '1 result' : `${results.length} results`
  const list = results.map(
    ({ page, heading, href, excerpt }) =>
      `<li><a href="${href}">${escaped(page.title)}${heading ? ` › ${escaped(heading)}` : ''}</a><p>${marks(excerpt, words)}</p></li>`,
  )
  const body =
    words.length === 0
      ? '<p>Enter one or more words in the search field.</p>'
      : `<p>${count} for “${escaped(words.join(' '))}”.${results.length === 0 ? ' Try fewer or other words.' : ''}</p><ol class="results">${list.join('')}</ol>`
  return layout('Search the handbook', '', `<h1>Search the handbook</h1>${body}`, { query })
}

/** Renders the page of an error code as an HTML document. Null if there is no such code. */
export function problemHtml(code: string): string | null {
  if (!Object.hasOwn(problemKinds, code)) return null
  const [status, title] = problemKinds[code as ProblemCode]
  const section = sectionOf(
    pages.find(page => page.slug === 'problems')!,
    code,
  )
  const body = `<h1>${escaped(title)}</h1><p>Error code <code>${code}</code>, HTTP status ${status}.</p>${html(section)}<p><a href="/docs/problems">All error codes</a></p>`
  return layout(title, 'problems', body)
}

/** Renders the page for unknown handbook addresses. */
export const missingPage = (): string =>
  layout(
    'Page not found',
    '',
    '<h1>Page not found</h1><p>The navigation lists all pages of the handbook. <a href="/docs">Go to the first page.</a></p>',
  )

/** Returns the text below a heading, without the heading itself. */
export function sectionOf(page: Page, heading: string): string {
  const parts = page.markdown.split(/^## /m)
  const part = parts.find(one => one.split('\n', 1)[0] === heading)
  return part ? part.slice(heading.length).trim() : ''
}

const marked = new Marked({
  gfm: true,
  renderer: {
    heading({ tokens, depth }) {
      const text = this.parser.parseInline(tokens)
      const id = anchorOf(text.replaceAll(/<[^>]+>/g, ''))
      return `<h${depth} id="${id}">${text}${depth > 1 ? ` <a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>` : ''}</h${depth}>\n`
    },
    // Wide content scrolls on its own. It must be focusable to be scrolled with the keyboard.
    code: ({ text, lang }) => `<pre tabindex="0"><code${lang ? ` class="language-${lang}"` : ''}>${escaped(text)}</code></pre>\n`,
    table(token) {
      const row = (cells: typeof token.header, name: 'th' | 'td') =>
        `<tr>${cells.map(cell => `<${name}${name === 'th' ? ' scope="col"' : ''}>${this.parser.parseInline(cell.tokens)}</${name}>`).join('')}</tr>`
      const body = token.rows.map(one => row(one, 'td')).join('')
      return `<div class="table" tabindex="0" role="region" aria-label="Table"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
    },
  },
})

const html = (markdown: string) => marked.parse(markdown, { async: false })

/** Renders a list of the headings of a long page. Empty for a short page. */
function contents(markdown: string): string {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^## (.+)$/gm)].map(match => match[1]!)
  if (headings.length < 4) return ''
  const links = headings.map(
    heading => `<li><a href="#${anchorOf(heading.replaceAll('`', ''))}">${marked.parseInline(heading)}</a></li>`,
  )
  return `<ul>${links.join('')}</ul>`
}

/** Renders links to the previous and the next page. */
function around(page: Page): string {
  const at = pages.indexOf(page)
  const link = (to: Page | undefined, rel: 'prev' | 'next', label: string) =>
    to ? `<a rel="${rel}" href="/docs/${to.slug}"><span>${label}</span> ${escaped(to.title)}</a>` : ''
  return `<nav class="around" aria-label="Previous and next page">${link(pages[at - 1], 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>`
}

/** Marks the words of a search in a text. */
const marks = (text: string, words: string[]): string =>
  text
    .split(new RegExp(`(${words.map(word => RegExp.escape(word)).join('|')})`, 'i'))
    .map((part, at) => (at % 2 === 1 ? `<mark>${escaped(part)}</mark>` : escaped(part)))
    .join('')

function layout(title: string, slug: string, body: string, { aside = '', query = '' } = {}): string {
  const link = (page: Page) =>
    `<li><a href="/docs/${page.slug}"${page.slug === slug ? ' aria-current="page"' : ''}>${escaped(page.title)}</a></li>`
  const navigation = groups.map(
    ({ title, pages }, at) =>
      `<p id="group-${at}">${escaped(title)}</p><ul aria-labelledby="group-${at}">${pages.map(link).join('')}</ul>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Bailiwick</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/handbook.css">
<script src="/assets/handbook.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<button type="button" class="menu" popovertarget="pages">Pages</button>
<a class="brand" href="/">Bailiwick</a> <a href="/docs">Handbook</a> <a href="/swagger">API reference</a>
<form role="search" action="/docs/search"><input type="search" name="q" value="${escaped(query)}" placeholder="Search the handbook" aria-label="Search the handbook" maxlength="200" required></form>
<span class="version">${version}</span>
</header>
<div class="columns">
<nav id="pages" popover aria-label="Handbook">${navigation.join('')}</nav>
<main id="main" tabindex="-1">
${body}
</main>
${aside}
</div>
</body>
</html>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, sign => entities[sign]!)
