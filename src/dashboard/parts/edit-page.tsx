import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import type { PagePath } from '../pages'
import { Form, type Values } from './form'
import { Card, Page, usePageTitle } from './page'

interface EditPageProps<Resource> {
  resource: Resource
  /** The page of the resource, where saving and canceling lead. */
  to: string
  /** API path of the resource. */
  path: string
  /** API paths to refetch after saving. */
  invalidates: readonly string[]
  aside?: ReactNode
  /** Values of a new resource. Advanced settings that differ from them are shown. */
  defaults: Values
  /** Field values of the resource as it was when the page opened. */
  valuesOf(opened: Resource): Values
  /** Request body: the values that have changed. */
  bodyOf(values: Values, before: Values): unknown
  children(opened: Resource): ReactNode
}

/**
 * A page for editing a resource. Pass the resource's ID as the key. It sends the version that was loaded, so that the hub rejects
 * the update if someone else has changed the resource in the meantime.
 */
export function EditPage<Resource extends { name: string; version: number }>(props: EditPageProps<Resource>) {
  const { resource, to, path, invalidates, aside, defaults, valuesOf, bodyOf, children } = props
  const navigate = useNavigate()
  const [opened] = useState(resource)
  const [before] = useState(() => valuesOf(opened))
  const back = () => void navigate({ to })
  return (
    <Page title={`Edit ${opened.name}`} parent={{ to, label: opened.name }} aside={aside}>
      <Card className="max-w-5xl">
        <Form
          initial={before}
          defaults={defaults}
          call={values => ({ method: 'PATCH', path, body: bodyOf(values, before), ifMatch: opened.version })}
          send={{ toast: 'Changes saved', invalidates, onSuccess: back }}
          onCancel={back}
          submitLabel="Save changes"
        >
          {children(opened)}
        </Form>
      </Card>
    </Page>
  )
}

interface CreatePageProps<Created> {
  /** The page that lists the resources. Canceling leads there. */
  parent: PagePath
  /** The page of one resource, where saving leads. */
  page: PagePath
  /** API path of the resources. */
  path: string
  invalidates: readonly string[]
  description?: string
  initial: Values
  /** Request body for the values. */
  bodyOf(values: Values): unknown
  /** Shows what the response contains only once, and then opens the page. */
  onCreated?(created: Created, open: () => void): void
  children: ReactNode
}

/** A page for creating a resource. Its title is the label of the submit button. */
export function CreatePage<Created extends { id: string; name: string }>(props: CreatePageProps<Created>) {
  const { parent, page, path, invalidates, description, initial, bodyOf, children } = props
  const { onCreated = (_, open) => open() } = props
  const navigate = useNavigate()
  return (
    <Page parent={parent} description={description}>
      <Card className="max-w-5xl">
        <Form<Created>
          initial={initial}
          call={values => ({ method: 'POST', path, body: bodyOf(values) })}
          send={{
            invalidates,
            onSuccess: created => onCreated(created, () => void navigate({ to: page.replace('$id', created.id) })),
          }}
          onCancel={() => void navigate({ to: parent })}
          submitLabel={usePageTitle()}
        >
          {children}
        </Form>
      </Card>
    </Page>
  )
}
