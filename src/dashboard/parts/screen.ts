import { useSyncExternalStore } from 'react'

const screens = (['sm', 'md', 'lg'] as const).map(from => ({
  from,
  query: matchMedia(`(width >= ${{ sm: '40rem', md: '48rem', lg: '64rem' }[from]})`),
}))

/** The widths from which parts of a page are shown that the screen has, as style classes name them: `sm md`. */
export const useWide = (): string =>
  useSyncExternalStore(
    listener => {
      for (const { query } of screens) query.addEventListener('change', listener)
      return () => {
        for (const { query } of screens) query.removeEventListener('change', listener)
      }
    },
    () => screens.flatMap(({ from, query }) => (query.matches ? from : [])).join(' '),
  )
