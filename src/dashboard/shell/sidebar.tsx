import { Link, useNavigate } from '@tanstack/react-router'
import { Building2, ChevronDown, PanelLeftClose, PanelLeftOpen } from 'lucide-react'
import { useEffect } from 'react'
import { Menu, type MenuItem } from '../parts/menu'
import { useUpdatePreferences } from '../preferences'
import { useOne } from '../queries'
import { useSwitchWorkspace, type Person } from '../session'
import type { PageEntry } from '../pages'
import { icons } from './icons'
import type { QuickAction } from './quick-actions'

interface SidebarProps {
  person: Person
  allowed: readonly PageEntry[]
  /** Whether to show only icons. Absent where the sidebar can't be collapsed. */
  collapsed?: boolean
  /** Groups of actions in the user menu. */
  actions: readonly (readonly QuickAction[])[]
}

/** Workspace, navigation, and user menu: a sidebar on wide screens, behind “More” on narrow ones. */
export function Sidebar({ person, allowed, collapsed, actions }: SidebarProps) {
  const isCollapsed = collapsed === true
  return (
    <>
      <WorkspaceMenu person={person} collapsed={isCollapsed} />
      <Navigation allowed={allowed} collapsed={isCollapsed} />
      {collapsed !== undefined && <CollapseButton collapsed={collapsed} />}
      <UserMenu person={person} collapsed={isCollapsed} actions={actions} />
    </>
  )
}

/** The product name, linked to the overview. */
export const Brand = ({ collapsed = false }: { collapsed?: boolean }) => (
  <Link to="/" className={`flex h-12 items-center gap-2 font-semibold ${collapsed ? 'justify-center' : 'md:px-4'}`}>
    <img src="/icon.svg" alt="" width="22" height="22" />
    <span className={collapsed ? 'sr-only' : ''}>Bailiwick</span>
  </Link>
)

/** Collapses the sidebar to icons, or expands it. */
function CollapseButton({ collapsed }: { collapsed: boolean }) {
  const updatePreferences = useUpdatePreferences()
  const label = collapsed ? 'Expand sidebar' : 'Collapse sidebar'
  const Icon = collapsed ? PanelLeftOpen : PanelLeftClose
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      onClick={() => updatePreferences({ sidebar_collapsed: !collapsed })}
      className={`mx-2 mb-1 flex h-8 items-center rounded-md px-2 text-muted hover:bg-hover hover:text-ink ${collapsed ? 'justify-center' : 'self-start'}`}
    >
      <Icon className="size-4" aria-hidden />
    </button>
  )
}

const Navigation = ({ allowed, collapsed }: { allowed: readonly PageEntry[]; collapsed: boolean }) => (
  <nav aria-label="Main" className="grow overflow-y-auto px-2 pb-2">
    {[...new Set(allowed.map(one => one.group))].map(group => {
      const shown = allowed.filter(one => one.group === group)
      return (
        <div key={group} className="mt-3 first:mt-1">
          {group && (
            <p className={collapsed ? 'mx-2 mb-2 border-t border-line' : 'px-2 pb-1 text-xs font-medium text-muted'}>
              <span className={collapsed ? 'sr-only' : ''}>{group}</span>
            </p>
          )}
          <ul>
            {shown.map(item => (
              <li key={item.path}>
                <Link
                  to={item.path}
                  activeOptions={{ exact: item.path === '/', includeSearch: false }}
                  title={collapsed ? item.title : undefined}
                  className={`relative flex h-8 items-center gap-2 rounded-md px-2 text-muted hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:font-medium data-[status=active]:text-accent ${collapsed ? 'justify-center' : ''}`}
                >
                  <PageIcon page={item} className="size-4 shrink-0" />
                  <span className={collapsed ? 'sr-only' : 'grow'}>{item.title}</span>
                  <span className={collapsed ? 'absolute -top-1 -right-1' : ''}>
                    <IncidentCount to={item.path} />
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </div>
      )
    })}
  </nav>
)

/** The icon of a page in the navigation. */
export function PageIcon({ page, className }: { page: PageEntry; className: string }) {
  const Icon = icons[page.icon!]
  return <Icon className={className} aria-hidden />
}

/** Number of open incidents, next to the link. */
function IncidentCount({ to }: { to: string }) {
  const { data } = useOne<{ pagination: { total?: number } }>(
    to === '/incidents' ? '/incidents' : null,
    { status: 'open', limit: 1, include: 'total' },
    { refetchMs: 60_000 },
  )
  const count = data?.pagination.total ?? 0
  useEffect(() => {
    if (to === '/incidents') setFavicon(count)
  }, [to, count])
  return count > 0 ? (
    <span className="rounded-full bg-bad-soft px-1.5 text-xs font-medium text-bad">
      {count}
      <span className="sr-only"> open</span>
    </span>
  ) : null
}

// The favicon shows open incidents while the user is in another tab.
function setFavicon(count: number): void {
  document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href = count > 0 ? '/icon-bad.svg' : '/icon.svg'
}

function WorkspaceMenu({ person, collapsed }: { person: Person; collapsed: boolean }) {
  const switchWorkspace = useSwitchWorkspace()
  const navigate = useNavigate()
  if (person.workspaces.length < 2) {
    return (
      <p
        title={person.workspace.name}
        className={`flex items-center gap-2 px-4 pb-1 text-muted max-md:px-2 ${collapsed ? 'justify-center' : ''}`}
      >
        <Building2 className="size-4 shrink-0" aria-hidden />
        <span className={collapsed ? 'sr-only' : 'min-w-0 leading-tight'}>
          <span className="block text-xs">Workspace</span>
          <span className="block truncate">{person.workspace.name}</span>
        </span>
      </p>
    )
  }
  return (
    <div className="px-2 pb-1">
      <Menu
        label="Switch workspace"
        className={`flex h-9 w-full items-center gap-2 rounded-md border border-line px-2 hover:bg-hover ${collapsed ? 'justify-center' : ''}`}
        items={person.workspaces.map(one => ({
          label: one.name,
          selected: one.id === person.workspace.id,
          onSelect: () => void switchWorkspace(one.id).then(() => navigate({ to: '/' })),
        }))}
      >
        <Building2 className="size-4 shrink-0 text-muted" aria-hidden />
        <span className={collapsed ? 'sr-only' : 'min-w-0 grow truncate text-left'}>{person.workspace.name}</span>
        {!collapsed && <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden />}
      </Menu>
    </div>
  )
}

function UserMenu({ person, collapsed, actions }: Omit<SidebarProps, 'allowed'> & { collapsed: boolean }) {
  return (
    <div className="border-t border-line p-2">
      <Menu
        label="User menu"
        className={`flex h-10 w-full items-center gap-2 rounded-md hover:bg-hover ${collapsed ? 'justify-center' : 'px-2'}`}
        items={actions.flatMap<MenuItem>((group, at) => (at === 0 ? group : ['-', ...group]))}
      >
        <span
          className="flex size-6 shrink-0 items-center justify-center rounded-full bg-accent-soft text-xs font-semibold text-accent"
          aria-hidden
        >
          {person.name.slice(0, 1).toUpperCase()}
        </span>
        <span className={collapsed ? 'sr-only' : 'min-w-0 grow truncate text-left'}>{person.name}</span>
        {!collapsed && <ChevronDown className="size-4 shrink-0 text-muted" aria-hidden />}
      </Menu>
    </div>
  )
}
