import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { permissions } from '../../../core/permissions'
import { Copied } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { FieldFrame, Form, More, SelectField, TextField, useForm, WordsField, type Values } from '../../parts/form'
import { Card, Page } from '../../parts/page'
import { isoOf } from '../../parts/timezone'
import { useSend } from '../../queries'

interface Made {
  id: string
  token: string
}

/** Makes a token, and shows its value the one time that it can be seen. */
export default function NewToken() {
  const navigate = useNavigate()
  const [made, setMade] = useState<Made | null>(null)
  const send = useSend<Made>({ quiet: true, stale: ['/tokens'], onDone: setMade })
  return (
    <Page title="New token" up={{ to: '/tokens', label: 'Tokens' }}>
      <Card className="max-w-2xl">
        <Form
          initial={{ name: '', mode: 'read_only', permissions: [], expires_at: '', allowed_cidrs: [] }}
          call={values => ({ method: 'POST', path: '/tokens', body: bodyOf(values) })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to: '/tokens' })}
          action="Make the token"
        >
          <TextField name="name" label="Name" hint="To tell it from others: what uses it, and where." autoFocus />
          <SelectField
            name="mode"
            label="What it may do"
            choices={[
              ['read_only', 'Read everything'],
              ['scoped', 'What is chosen below'],
              ['full', 'Everything'],
            ]}
          />
          <Permissions />
          <TextField name="expires_at" label="Ends" type="datetime-local" hint="In your time. Empty is never." />
          <More label="Where it may be used from" names={['allowed_cidrs']}>
            <WordsField name="allowed_cidrs" label="Addresses" hint="Addresses or ranges, such as 192.0.2.0/24. Empty is any." />
          </More>
        </Form>
      </Card>
      <Dialog
        open={made !== null}
        onClose={() => void navigate({ to: '/tokens' })}
        title="Keep this token"
        description="It is shown this once. The hub keeps a hash of it alone."
      >
        {made && <Copied text={made.token} label="the token" />}
      </Dialog>
    </Page>
  )
}

function Permissions() {
  const { values, set } = useForm()
  const chosen = values.permissions as string[]
  if (values.mode !== 'scoped') return null
  return (
    <FieldFrame name="permissions" label="Permissions" hint="Write implies read.">
      {attributes => (
        <div {...attributes} role="group" className="grid grid-cols-2 gap-x-4 gap-y-1 sm:grid-cols-3">
          {permissions.map(one => (
            <label key={one} className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={chosen.includes(one)}
                onChange={event =>
                  set({ permissions: event.target.checked ? [...chosen, one] : chosen.filter(other => other !== one) })
                }
              />
              {one}
            </label>
          ))}
        </div>
      )}
    </FieldFrame>
  )
}

function bodyOf(values: Values): Values {
  const { name, mode, permissions: chosen, expires_at: ends, allowed_cidrs: from } = values
  return {
    name,
    mode,
    ...(mode === 'scoped' && { permissions: chosen }),
    ...(ends !== '' && { expires_at: isoOf(ends as string) }),
    ...((from as string[]).length > 0 && { allowed_cidrs: from }),
  }
}
