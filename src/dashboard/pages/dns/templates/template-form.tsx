import type { TemplateView } from '../../../../features/dns/templates/shapes'
import type { Call } from '../../../client'
import { Form, TextField, type Values } from '../../../parts/form'
import { wordsOf } from '../../../parts/status'
import { RowsField, type RowMember } from './rows-field'
import { bodyOf, type TemplateRecord, type Variable } from './template-values'

interface TemplateFormProps {
  initial: Values
  /** The call that the body makes. */
  call(body: Values): Call
  send(call: Call): Promise<unknown>
  pending: boolean
  onCancel(): void
  action: string
}

/** A template to write: variables and records, a line each. */
export const TemplateForm = ({ call, action, ...rest }: TemplateFormProps) => (
  <Form {...rest} call={values => call(bodyOf(values))} action={action}>
    <TextField name="name" label="Name" autoFocus />
    <TextField name="description" label="What it is for" />
    <RowsField<Variable>
      name="variables"
      label="Variables"
      hint={
        <>
          What differs from zone to zone. Records use them as <code className="font-mono">{'{{name}}'}</code>;{' '}
          <code className="font-mono">{'{{zone}}'}</code>, <code className="font-mono">{'{{host}}'}</code> and{' '}
          <code className="font-mono">{'{{fqdn}}'}</code> are there always.
        </>
      }
      members={variableMembers}
      fresh={{ name: '', type: 'string' }}
      add="Add a variable"
    />
    <RowsField<TemplateRecord>
      name="records"
      label="Records"
      hint="Names are below the one that the template is applied at, which is @. Values are written as in a zone file."
      members={recordMembers}
      fresh={{ type: 'A', name: '@', content: '', on_conflict: 'fail' }}
      add="Add a record"
    />
  </Form>
)

const types = ['string', 'ip', 'ipv6', 'host', 'int', 'enum'] as const satisfies TemplateView['variables'][number]['type'][]
const ways = ['fail', 'skip', 'replace', 'merge'] as const satisfies TemplateRecord['on_conflict'][]
const choicesOf = (words: readonly string[]) => words.map(one => [one, wordsOf(one)] as const)
const wholeNumber = /^-?\d{1,15}$/

const variableMembers: readonly RowMember<Variable>[] = [
  { name: 'name', label: 'Name', width: '11rem' },
  { name: 'type', label: 'Type', width: '7rem', choices: choicesOf(types) },
  {
    name: 'required',
    label: 'Must be given',
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
    label: 'Values, with commas',
    read: row => (row.values ?? []).join(','),
    write: text => (text === '' ? undefined : text.split(',')),
  },
  { name: 'pattern', label: 'Pattern', width: '9rem' },
  { name: 'description', label: 'What it is for' },
]

const recordMembers: readonly RowMember<TemplateRecord>[] = [
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
  { name: 'on_conflict', label: 'On conflict', width: '7rem', choices: choicesOf(ways) },
  { name: 'when', label: 'Only with', width: '7rem' },
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
