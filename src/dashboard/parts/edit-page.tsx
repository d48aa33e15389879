import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { useSend } from '../queries'
import { Form, type Values } from './form'
import { Card, Page } from './page'

interface EditPageProps<Thing> {
  thing: Thing
  /** Where the thing has its page: where one goes on to, and back. */
  to: string
  /** Its path in the API. */
  path: string
  /** Read anew once it is saved. */
  stale: readonly string[]
  aside?: ReactNode
  /** The values of the fields for the thing as it was when the page was opened. */
  valuesOf(opened: Thing): Values
  /** What is sent of the values: what differs from those before. */
  bodyOf(values: Values, before: Values): unknown
  children(opened: Thing): ReactNode
}

/**
 * Edits a thing on a page of its own. Give it the thing's id as key. What another person changes while it is open is theirs: the
 * version that was read is sent along, and the hub refuses what is older.
 */
export function EditPage<Thing extends { name: string; version: number }>(props: EditPageProps<Thing>) {
  const { thing, to, path, stale, aside, valuesOf, bodyOf, children } = props
  const navigate = useNavigate()
  const [opened] = useState(thing)
  const [before] = useState(() => valuesOf(opened))
  const back = () => void navigate({ to })
  const send = useSend({ quiet: true, done: 'Saved', stale, onDone: back })
  return (
    <Page title={`Edit ${opened.name}`} up={{ to, label: opened.name }} aside={aside}>
      <Card className="max-w-3xl">
        <Form
          initial={before}
          call={values => ({ method: 'PATCH', path, body: bodyOf(values, before), ifMatch: opened.version })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={back}
          action="Save"
        >
          {children(opened)}
        </Form>
      </Card>
    </Page>
  )
}
