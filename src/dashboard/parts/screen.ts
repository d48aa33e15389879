import { useSyncExternalStore } from 'react'

const breakpoints = (['sm', 'md', 'lg', 'xl'] as const).map(from => ({
  from,
  query: matchMedia(`(width >= ${{ sm: '40rem', md: '48rem', lg: '64rem', xl: '80rem' }[from]})`),
}))

/** Returns the breakpoints that the screen reaches, as in class names: `sm md`. */
export const useBreakpoints = (): string =>
  useSyncExternalStore(
    listener => {
      for (const { query } of breakpoints) query.addEventListener('change', listener)
      return () => {
        for (const { query } of breakpoints) query.removeEventListener('change', listener)
      }
    },
    () => breakpoints.flatMap(({ from, query }) => (query.matches ? from : [])).join(' '),
  )
