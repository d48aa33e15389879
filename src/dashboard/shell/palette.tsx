import { keepPreviousData, useQueries } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { CornerDownLeft, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { Combobox } from '../parts/combobox'
import { useDebounced } from '../parts/debounced'
import { closeDialog, openDialog } from '../parts/open-dialog'
import { call, type Page } from '../client'
import { usePerson } from '../session'
import type { QuickAction } from './quick-actions'
import { resourceEntries } from '../../registry'
import type { PageEntry } from '../pages'
import { icons } from './icons'

interface Row {
  key: string
  label: string
  kind: string
  icon?: LucideIcon
  run(): void
}

/** Opens a search for pages, resources, and quick actions. */
export const openPalette = (pages: readonly PageEntry[], actions: readonly QuickAction[]): void =>
  openDialog({ title: 'Search or jump to…', content: <Palette pages={pages} actions={actions} /> })

// Resources that can be found by name.
const searches = resourceEntries.flatMap(({ path, page, name, searchBy }) =>
  searchBy ? [{ path: path!, page: page!, kind: name[0]!.toUpperCase() + name.slice(1), nameField: searchBy }] : [],
)

const maxResults = 6
const minQueryLength = 2
const debounceMs = 150

function Palette({ pages, actions }: { pages: readonly PageEntry[]; actions: readonly QuickAction[] }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const resources = useSearchResults(useDebounced(text.trim(), debounceMs))
  const go = (to: string) => () => void navigate({ to })
  const matches = (label: string) => label.toLowerCase().includes(text.trim().toLowerCase())
  const rows: Row[] = [
    ...pages
      .filter(one => matches(one.title!))
      .map(one => ({ key: one.path, label: one.title!, kind: 'Page', icon: icons[one.icon!], run: go(one.path) })),
    ...resources.map(one => ({ ...one, run: go(one.to) })),
    ...actions
      .map(({ label, longLabel = label, icon, onSelect: run }) => ({
        key: longLabel,
        label: longLabel,
        kind: 'Action',
        icon,
        run,
      }))
      .filter(one => matches(one.label)),
  ]
  return (
    <Combobox
      label="Search or jump to…"
      placeholder="Search pages, resources, and actions"
      text={text}
      onText={setText}
      rows={rows}
      onPick={row => {
        closeDialog()
        row.run()
      }}
    >
      {(row, isCurrent) => (
        <>
          {row.icon && <row.icon className="size-4 text-muted" aria-hidden />}
          <span className="min-w-0 grow truncate">{row.label}</span>
          <span className="text-[13px] text-muted">{row.kind}</span>
          {isCurrent && <CornerDownLeft className="size-3.5 text-muted" aria-hidden />}
        </>
      )}
    </Combobox>
  )
}

/** Finds resources whose name contains the text, a few of each kind. */
function useSearchResults(text: string): (Omit<Row, 'run'> & { to: string })[] {
  const { canReadAccount } = usePerson()
  const active = text.length >= minQueryLength ? searches.filter(one => canReadAccount || one.path !== '/tokens') : []
  return useQueries({
    queries: active.map(({ path, nameField }) => {
      const query = { q: text, limit: maxResults, fields: `id,${nameField}` }
      return {
        queryKey: [path, query],
        queryFn: ({ signal }: { signal: AbortSignal }) =>
          call<Page<Record<string, string>>>({ method: 'GET', path, query }, signal),
        placeholderData: keepPreviousData,
      }
    }),
    combine: results =>
      active.flatMap(({ kind, nameField, page }, index) =>
        (results[index]?.data?.data ?? []).map(row => ({
          key: row.id!,
          label: row[nameField]!,
          kind,
          to: page.replace('$id', row.id!),
        })),
      ),
  })
}
