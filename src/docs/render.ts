import { Marked } from 'marked'
import { problemKinds, type ProblemCode } from '../core/problem'
import { version } from '../core/version'
import { pages, type Page } from '.'

/** Renders a handbook page as an HTML document. Null if there is no such page. */
export function pageHtml(slug: string): string | null {
  const page = pages.find(one => one.slug === slug)
  if (!page) return null
  const [heading, text] = html(page.markdown).split(/(?<=<\/h1>)/, 2) as [string, string]
  return layout(page.title, page.slug, heading + contents(page.markdown) + text)
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

/** Returns the anchor of a heading: its words in lowercase, joined by hyphens. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^-|-$/g, '')

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

/** Renders a table of contents for long pages. */
function contents(markdown: string): string {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^## (.+)$/gm)].map(match => match[1]!)
  if (headings.length < 4) return ''
  const links = headings.map(
    heading => `<li><a href="#${anchorOf(heading.replaceAll('`', ''))}">${marked.parseInline(heading)}</a></li>`,
  )
  return `<details class="contents"><summary>On this page</summary><ul>${links.join('')}</ul></details>`
}

function layout(title: string, slug: string, body: string): string {
  const links = pages.map(
    page => `<li><a href="/docs/${page.slug}"${page.slug === slug ? ' aria-current="page"' : ''}>${escaped(page.title)}</a></li>`,
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
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header><a class="brand" href="/">Bailiwick</a> <a href="/docs">Handbook</a> <a href="/swagger">API reference</a> <span class="version">${version}</span></header>
<div class="columns">
<nav aria-label="Handbook"><ul>${links.join('')}</ul></nav>
<main id="main" tabindex="-1">
${body}
</main>
</div>
</body>
</html>
`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, sign => entities[sign]!)
