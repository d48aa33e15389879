import { Link, useLocation } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'

interface TabsProps {
  label: string
  /** Each tab is an address of its own. `exact` marks it only there, and not below it. */
  tabs: readonly { to: string; label: string; count?: number | null; exact?: boolean }[]
}

/** The views of one thing, each with an address. */
export function Tabs({ label, tabs }: TabsProps) {
  const row = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // On a narrow screen the row scrolls, and the tab that is open may be beyond its edge.
  useLayoutEffect(() => {
    const open = row.current?.querySelector<HTMLElement>('[data-status=active]')
    if (row.current && open) row.current.scrollLeft = open.offsetLeft - (row.current.clientWidth - open.offsetWidth) / 2
  }, [pathname])
  return (
    <nav ref={row} aria-label={label} className="relative mb-4 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map(tab => (
        <Link
          key={tab.to}
          to={tab.to}
          activeOptions={{ exact: tab.exact ?? false, includeSearch: false }}
          className="-mb-px border-b-2 border-transparent px-3 py-2 whitespace-nowrap text-muted hover:text-ink data-[status=active]:border-accent data-[status=active]:font-medium data-[status=active]:text-ink"
        >
          {tab.label}
          {tab.count !== undefined && tab.count !== null && tab.count > 0 && (
            <span className="ml-1.5 rounded-full bg-idle-soft px-1.5 text-xs text-idle">{tab.count.toLocaleString()}</span>
          )}
        </Link>
      ))}
    </nav>
  )
}
