import { pages } from '.'
import { anchorOf } from './render'

/** A handbook page with its headings, without the title. */
export interface OutlinePage {
  slug: string
  title: string
  headings: { title: string; anchor: string }[]
}

/** The pages of the handbook in reading order, with their headings. */
export const outline = (): OutlinePage[] =>
  pages.map(({ slug, title, markdown }) => ({ slug, title: plain(title), headings: headingsOf(markdown) }))

const headingsOf = (markdown: string) =>
  [...markdown.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#{2,4} (.+)$/gm)].map(match => {
    const title = plain(match[1]!)
    return { title, anchor: anchorOf(title) }
  })

/** Text without the marks for code and links. */
const plain = (markdown: string): string => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)|`/g, '$1')
