import { useSyncExternalStore } from 'react'

const widths = { sm: '40rem', md: '48rem', lg: '64rem', xl: '80rem', '2xl': '96rem' }
/** A width of the screen, as in class names. */
export type Breakpoint = keyof typeof widths

const breakpoints = (Object.keys(widths) as Breakpoint[]).map(from => ({
  from,
  query: matchMedia(`(width >= ${widths[from]})`),
}))
const reachedNow = () => breakpoints.flatMap(({ from, query }) => (query.matches ? from : []))
let reached: ReadonlySet<Breakpoint> = new Set(reachedNow())

/** Returns the breakpoints that the screen reaches. */
export const useBreakpoints = (): ReadonlySet<Breakpoint> =>
  useSyncExternalStore(
    listener => {
      for (const { query } of breakpoints) query.addEventListener('change', listener)
      return () => {
        for (const { query } of breakpoints) query.removeEventListener('change', listener)
      }
    },
    () => {
      const now = reachedNow()
      // The same set until it changes.
      if (now.length !== reached.size) reached = new Set(now)
      return reached
    },
  )
