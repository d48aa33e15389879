import { useLocation, useNavigate } from '@tanstack/react-router'
import { BookOpen, Building2, CornerDownLeft, UserPlus, type LucideIcon } from 'lucide-react'
import { useMemo, useState } from 'react'
import { entryOfId } from '../../../registry'
import { inviteMember } from '../../pages/members/invitations'
import { Combobox, type SearchText } from '../../parts/combobox'
import { closeDialog } from '../../parts/open-dialog'
import { capitalize } from '../../parts/status'
import { formatDateTime } from '../../parts/time'
import { resourcePath } from '../../pages'
import { useSend } from '../../queries'
import { recentlyOpened, type Opened } from '../../recently-opened'
import { usePerson, useSwitchWorkspace } from '../../session'
import type { QuickAction } from '../quick-actions'
import { kindOf, useFound, useFoundById, type Found } from './found'
import { useHandbook } from './handbook'
import { iconAt, placesFor } from './places'
import { closeness, rank } from './rank'
import { verbs, verbsIn, type Fields, type Tools } from './verbs'

interface Row {
  key: string
  label: string
  /** Tells it apart from others of the same label. */
  detail?: string | null
  kind: string
  icon?: LucideIcon
  /** Other words by which it is found. */
  keywords?: string
  /** The order of those that match the text equally well. */
  weight: Weight
  /** Shown although the browser finds no similarity. */
  isMatch?: boolean
  run(): void
}

enum Weight {
  Recent,
  Page,
  Resource,
  Settings,
  Record,
  Handbook,
}

const maxRows = 50
const maxRecent = 6
const maxHandbook = 8

/** A search for pages, settings, resources, the handbook, and actions. */
export default function Palette({ actions, search }: { actions: readonly QuickAction[]; search: SearchText }) {
  const { text } = search
  const person = usePerson()
  const tools = useTools()
  const [opened] = useState(recentlyOpened)
  const here = useResourceOfPage()
  const { found, isLoading } = useFound(text)
  const pageRows = usePageRows(actions, tools)
  const handbook = useHandbookRows()

  const isTyped = text.trim() !== ''
  const others = isTyped
    ? distinct(
        found,
        one => one.type,
        one => one.fields.created_at,
      )
    : []
  const isFound = (id: string) => others.some(one => one.id === id)
  const current = here && !isFound(here.id) ? [here, ...others] : others
  const asked = isTyped ? verbsIn(text).found : verbs
  const verbRows = person.canWrite ? current.flatMap(one => verbRowsOf(one, tools, asked)) : []
  const recent = distinct(
    opened,
    one => entryOfId(one.id)!.name,
    one => one.created_at,
  )
    .filter(one => !isFound(one.id) && (isTyped || one.id !== here?.id))
    .map(one => recentRow(one, tools))
  const resources = others.map(one =>
    resourceRow(
      one,
      opened.some(other => other.id === one.id),
      tools,
    ),
  )
  const rows = isTyped
    ? [
        ...ranked([...recent, ...pageRows, ...resources, ...verbRows, ...handbook], text),
        ...(isLoading ? [] : [handbookSearch(text.trim())]),
      ]
    : [...recent.slice(0, maxRecent), ...verbRows, ...pageRows.filter(one => one.isMain)]
  return (
    <Combobox
      {...search}
      rows={rows}
      isLoading={isTyped && isLoading}
      onPick={row => {
        closeDialog()
        row.run()
      }}
    >
      {(row, isCurrent) => (
        <>
          {row.icon && <row.icon className="size-4 shrink-0 text-muted" aria-hidden />}
          <span className="min-w-0 grow truncate">
            {row.label}{' '}
            {row.detail && <span className="text-[13px] text-muted max-sm:block max-sm:truncate sm:ml-1">{row.detail}</span>}
          </span>
          <span className="shrink-0 text-[13px] text-muted">{row.kind}</span>
          {isCurrent && <CornerDownLeft className="size-3.5 shrink-0 text-muted" aria-hidden />}
        </>
      )}
    </Combobox>
  )
}

/** The rows that resemble a text, best first. */
function ranked(rows: readonly Row[], text: string): Row[] {
  const order = rank(
    rows.map(one => [one.label, one.detail, one.keywords].filter(Boolean).join(' ')),
    text,
  )
  const matching = order
    .map((at, position) => ({ row: rows[at]!, position, closeness: closeness(rows[at]!.label, text) }))
    .toSorted((a, b) => a.closeness - b.closeness || a.row.weight - b.row.weight || a.position - b.position)
    .map(one => one.row)
  const shown = new Set(matching)
  const handbook = matching.filter(one => one.weight === Weight.Handbook).slice(maxHandbook)
  return [...matching.filter(one => !handbook.includes(one)), ...rows.filter(one => one.isMatch && !shown.has(one))].slice(
    0,
    maxRows,
  )
}

function useTools(): Tools {
  const navigate = useNavigate()
  const { mutate: pause } = useSend<Fields>({
    toast: one => `${String(one.name)} ${one.status === 'paused' ? 'paused' : 'resumed'}`,
    undo: one => ({
      method: 'POST',
      path: `${entryOfId(one.id)!.path}/${one.id}/${one.status === 'paused' ? 'resume' : 'pause'}`,
    }),
    invalidates: ['/monitors', '/heartbeats', '/incidents', '/overview'],
  })
  return { open: href => void navigate({ href }), pause }
}

/** The resource whose page is open. */
function useResourceOfPage(): Found | null {
  const { pathname } = useLocation()
  const id = pathname.split('/').find(part => {
    const path = resourcePath(part)
    return path?.includes(part) && `${pathname}/`.startsWith(`${path}/`)
  })
  return useFoundById(id ?? null)
}

/** Pages, settings, and actions that don’t concern a resource. */
function usePageRows(actions: readonly QuickAction[], tools: Tools): (Row & { isMain?: boolean })[] {
  const person = usePerson()
  const switchWorkspace = useSwitchWorkspace()
  const places = useMemo(() => placesFor(person), [person])
  const action = (label: string, icon: LucideIcon, run: () => void, detail?: string) =>
    ({ key: `${label} ${detail}`, label, kind: 'Action', icon, weight: Weight.Page, run, ...(detail && { detail }) }) as const
  return [
    ...places.map(({ to, hash, ...place }) => ({
      ...place,
      key: `${to}#${hash ?? ''}`,
      weight: place.kind === 'Settings' ? Weight.Settings : Weight.Page,
      run: () => tools.open(hash ? `${to}#${hash}` : to),
    })),
    ...(person.canAdminister ? [action('Invite member', UserPlus, () => inviteMember('/invitations'))] : []),
    ...person.workspaces
      .filter(one => one.id !== person.workspace.id)
      .map(({ id, name, role }) => {
        const isRepeated = person.workspaces.some(one => one.id !== id && one.name === name)
        const open = () => void switchWorkspace(id).then(() => tools.open('/'))
        return action(`Switch to ${name}`, Building2, open, isRepeated ? `${capitalize(role)}, ${id}` : undefined)
      }),
    ...actions.map(one => ({ ...action(one.longLabel ?? one.label, one.icon, one.onSelect), isMain: true })),
  ]
}

function useHandbookRows(): Row[] {
  const pages = useHandbook()
  return useMemo(
    () =>
      pages.flatMap(({ slug, title, headings }) => {
        const row = (label: string, anchor: string, detail?: string): Row => ({
          key: `/docs/${slug}${anchor}`,
          label,
          kind: 'Handbook',
          icon: BookOpen,
          weight: Weight.Handbook,
          run: () => location.assign(`/docs/${slug}${anchor}`),
          ...(detail && { detail }),
        })
        return [row(title, ''), ...headings.map(one => row(one.title, `#${one.anchor}`, title))]
      }),
    [pages],
  )
}

const handbookSearch = (text: string): Row => ({
  key: '/docs/search',
  label: `Search the handbook for “${text}”`,
  kind: 'Handbook',
  icon: BookOpen,
  weight: Weight.Handbook,
  run: () => location.assign(`/docs/search?q=${encodeURIComponent(text)}`),
})

const recentRow = ({ id, name, detail }: Opened & { detail?: string | null }, { open }: Tools): Row => ({
  key: id,
  label: name,
  detail: detail ?? null,
  kind: capitalize(entryOfId(id)!.name),
  icon: iconAt(resourcePath(id)!),
  weight: Weight.Recent,
  run: () => open(resourcePath(id)!),
})

const resourceRow = ({ id, type, name, detail, to, isMatch }: Found, isRecent: boolean, { open }: Tools): Row => ({
  key: id,
  label: name,
  detail,
  kind: kindOf(type),
  icon: iconAt(to),
  weight: isRecent ? Weight.Recent : type === 'record' ? Weight.Record : Weight.Resource,
  isMatch,
  run: () => open(to),
})

/** Adds the time of creation to the details of those that would otherwise look the same. */
function distinct<One extends { name: string; detail?: string | null }>(
  list: readonly One[],
  typeOf: (one: One) => string,
  createdAt: (one: One) => unknown,
): (One & { detail?: string | null })[] {
  const looks = list.map(one => [typeOf(one), one.name, one.detail].join('\n'))
  return list.map((one, at) => {
    const time = createdAt(one)
    if (typeof time !== 'string' || looks.indexOf(looks[at]!) === looks.lastIndexOf(looks[at]!)) return one
    return { ...one, detail: [one.detail, `Created ${formatDateTime(time)}`].filter(Boolean).join(' · ') }
  })
}

const verbRowsOf = (found: Found, tools: Tools, asked: typeof verbs): Row[] =>
  asked
    .filter(verb => verb.type === found.type && (verb.isFor?.(found.fields) ?? true))
    .map(verb => ({
      key: `${verb.label('')} ${found.id}`,
      label: verb.label(found.name),
      detail: found.detail,
      kind: 'Action',
      icon: verb.icon,
      weight: Weight.Page,
      run: () => verb.run(found.fields, found.name, tools),
    }))
