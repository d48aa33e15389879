import { useNavigate } from '@tanstack/react-router'
import { CornerDownLeft, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { Combobox } from '../parts/combobox'
import { closeDialog, openDialog } from '../parts/open-dialog'
import type { QuickAction } from './quick-actions'
import { useResourceSearch } from '../parts/resource-search'
import { resourcePath, type PageEntry } from '../pages'
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

const minQueryLength = 2

function Palette({ pages, actions }: { pages: readonly PageEntry[]; actions: readonly QuickAction[] }) {
  const navigate = useNavigate()
  const [text, setText] = useState('')
  const resources = useResourceSearch(text.trim().length < minQueryLength ? '' : text, one => one.page)
  const go = (to: string) => () => void navigate({ to })
  const matches = (label: string) => label.toLowerCase().includes(text.trim().toLowerCase())
  const rows: Row[] = [
    ...pages
      .filter(one => matches(one.title!))
      .map(one => ({ key: one.path, label: one.title!, kind: 'Page', icon: icons[one.icon!], run: go(one.path) })),
    ...resources.map(({ id, name, kind }) => ({ key: id, label: name, kind, run: go(resourcePath(id)!) })),
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
