import type { UseQueryResult } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import type { ApiError } from '../client'
import { TestSettings } from './account-check'
import { CreatePage, EditPage } from './edit-page'
import { FieldFrame } from './form'
import { Select } from './input'
import { Loaded } from './page'
import { Tag } from './status'
import { useUrlState } from './url-state'
import type { Values } from './values'

type AccountKind = ComponentProps<typeof TestSettings>['kind'] & { title: string }
type Page = Pick<ComponentProps<typeof CreatePage>, 'parent' | 'page' | 'path' | 'invalidates' | 'description'>

interface NewAccountPageProps<Kind extends AccountKind> extends Page {
  kinds: UseQueryResult<{ data: Kind[] }, ApiError>
  kindLabel: string
  initial(kind: Kind): Values
  bodyOf(kind: Kind, values: Values): unknown
  fields(kind: Kind): ReactNode
  checked: ComponentProps<typeof TestSettings>['of']
  /** API path that tests settings. */
  checkPath: string
}

/** A page that adds an account at an external system of one of several kinds. Its settings can be tested first. */
export function NewAccountPage<Kind extends AccountKind>(props: NewAccountPageProps<Kind>) {
  const { kinds, kindLabel, initial, bodyOf, fields, checked, checkPath, path, ...page } = props
  const [{ kind: name }, set] = useUrlState({ kind: '' })
  return (
    <Loaded query={kinds} parent={page.parent}>
      {({ data }) => {
        const kind = data.find(one => one.kind === name) ?? data[0]!
        return (
          <CreatePage {...page} path={path} key={kind.kind} initial={initial(kind)} bodyOf={values => bodyOf(kind, values)}>
            <FieldFrame name="kind" label={kindLabel}>
              {attributes => (
                <Select
                  {...attributes}
                  value={kind.kind}
                  onText={value => set({ kind: value })}
                  choices={data.map(one => [one.kind, one.title] as const)}
                />
              )}
            </FieldFrame>
            {fields(kind)}
            <TestSettings of={checked} path={checkPath} kind={kind} />
          </CreatePage>
        )
      }}
    </Loaded>
  )
}

interface EditAccountPageProps<Account, Kind extends AccountKind> {
  account: Account
  kinds: UseQueryResult<{ data: Kind[] }, ApiError>
  parent: Page['parent']
  invalidates: Page['invalidates']
  valuesOf(kind: Kind, account: Account | null): Values
  bodyOf(kind: Kind, values: Values, before: Values): unknown
  fields(kind: Kind, account: Account): ReactNode
}

/** A page that edits an account at an external system. A new value replaces a stored secret. */
export function EditAccountPage<
  Account extends { id: string; kind: string; name: string; version: number },
  Kind extends AccountKind,
>({ account, kinds, parent, invalidates, valuesOf, bodyOf, fields }: EditAccountPageProps<Account, Kind>) {
  const own = `${parent}/${account.id}`
  return (
    <Loaded query={{ ...kinds, data: kinds.data?.data.find(one => one.kind === account.kind) }} parent={parent}>
      {kind => (
        <EditPage
          resource={account}
          to={own}
          path={own}
          invalidates={invalidates}
          aside={<Tag>{kind.title}</Tag>}
          defaults={valuesOf(kind, null)}
          valuesOf={opened => valuesOf(kind, opened)}
          bodyOf={(values, before) => bodyOf(kind, values, before)}
        >
          {opened => fields(kind, opened)}
        </EditPage>
      )}
    </Loaded>
  )
}
