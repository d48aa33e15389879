import { pages } from '.'
import { anchorOf } from './anchor'
import { plain, sectionsOf } from './search'

/** A handbook page with its headings, without the title. */
export interface OutlinePage {
  slug: string
  title: string
  headings: { title: string; anchor: string }[]
}

/** The pages of the handbook in reading order, with their headings. */
export const outline = (): OutlinePage[] =>
  pages.map(page => ({
    slug: page.slug,
    title: plain(page.title),
    headings: sectionsOf(page)
      .filter(section => section.heading !== '')
      .map(({ heading }) => ({ title: heading, anchor: anchorOf(heading) })),
  }))
