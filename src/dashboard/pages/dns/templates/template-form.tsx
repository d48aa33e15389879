import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { Call } from '../../../client'
import { Form, TextField, type Values } from '../../../parts/form'
import { humanize } from '../../../parts/status'
import type { SendOptions } from '../../../queries'
import { RowsField, type RowField } from './rows-field'
import { bodyOf, type TemplateRecord, type Variable } from './template-values'

interface TemplateFormProps {
  initial: Values
  /** Builds the request from the body. */
  call(body: Values): Call
  send: SendOptions<TemplateView>
  onCancel(): void
  action: string
}

/** Form for a template: name, variables and records. */
export const TemplateForm = ({ call, action, ...rest }: TemplateFormProps) => (
  <Form {...rest} call={values => call(bodyOf(values))} submitLabel={action}>
    <TextField name="name" label="Name" autoFocus />
    <TextField name="description" label="Description" />
    <RowsField<Variable>
      name="variables"
      label="Variables"
      hint={
        <>
          Values that differ between zones. Records refer to them as <code className="font-mono">{'{{name}}'}</code>;{' '}
          <code className="font-mono">{'{{zone}}'}</code>, <code className="font-mono">{'{{host}}'}</code>, and{' '}
          <code className="font-mono">{'{{fqdn}}'}</code> are always available.
        </>
      }
      fields={variableFields}
      newRow={{ name: '', type: 'string' }}
      addLabel="Add variable"
    />
    <RowsField<TemplateRecord>
      name="records"
      label="Records"
      hint="Names are relative to the host the template is applied to, which is @. Values are in zone file format."
      fields={recordFields}
      newRow={{ type: 'A', name: '@', content: '', on_conflict: 'fail' }}
      addLabel="Add record"
    />
  </Form>
)

const types = ['string', 'ip', 'ipv6', 'host', 'int', 'enum'] as const satisfies TemplateView['variables'][number]['type'][]
const conflictModes = ['fail', 'skip', 'replace', 'merge'] as const satisfies TemplateRecord['on_conflict'][]
const choicesOf = (words: readonly string[]) => words.map(one => [one, humanize(one)] as const)
const wholeNumber = /^-?\d{1,15}$/

const variableFields: readonly RowField<Variable>[] = [
  { name: 'name', label: 'Name', width: '11rem' },
  { name: 'type', label: 'Type', width: '7rem', choices: choicesOf(types) },
  {
    name: 'required',
    label: 'Required',
    width: '9.5rem',
    choices: [
      ['', 'if no default'],
      ['true', 'yes'],
      ['false', 'no'],
    ],
    read: row => (row.required === undefined ? '' : String(row.required)),
    write: text => (text === '' ? undefined : text === 'true'),
  },
  {
    name: 'default',
    label: 'Default',
    width: '10rem',
    read: row => String(row.default ?? ''),
    write: text => (text === '' ? undefined : text),
  },
  {
    name: 'values',
    label: 'Values, comma-separated',
    read: row => (row.values ?? []).join(','),
    write: text => (text === '' ? undefined : text.split(',')),
  },
  { name: 'pattern', label: 'Pattern', width: '9rem' },
  { name: 'description', label: 'Description' },
]

const recordFields: readonly RowField<TemplateRecord>[] = [
  { name: 'name', label: 'Name', width: '9rem' },
  { name: 'type', label: 'Type', width: '6rem' },
  {
    name: 'ttl',
    label: 'TTL',
    width: '5rem',
    read: row => String(row.ttl ?? ''),
    write: text => (text === '' ? undefined : wholeNumber.test(text) ? Number(text) : text),
  },
  { name: 'content', label: 'Value' },
  { name: 'on_conflict', label: 'On conflict', width: '7rem', choices: choicesOf(conflictModes) },
  { name: 'when', label: 'Condition', width: '7rem' },
  {
    name: 'essential',
    label: 'Essential',
    width: '6rem',
    choices: [
      ['true', 'yes'],
      ['false', 'no'],
    ],
    read: row => String(row.essential ?? true),
    write: text => text === 'true',
  },
]
