import { Link, useLocation } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'

interface TabsProps {
  label: string
  /** Each tab is a page of its own. `exact` marks the tab active only on that path, not below it. */
  tabs: readonly { to: string; label: string; count?: number | null; exact?: boolean }[]
}

/** Tabs, each linking to its own page. */
export function Tabs({ label, tabs }: TabsProps) {
  const row = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  // On narrow screens the tabs scroll. Scroll to the active one.
  useLayoutEffect(() => {
    const active = row.current?.querySelector<HTMLElement>('[data-status=active]')
    if (row.current && active) row.current.scrollLeft = active.offsetLeft - (row.current.clientWidth - active.offsetWidth) / 2
  }, [pathname])
  return (
    <nav
      ref={row}
      aria-label={label}
      className="relative mb-4 flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line max-sm:mask-r-from-90% max-sm:pr-10"
    >
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
