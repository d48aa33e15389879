import { Type } from '@sinclair/typebox'
import { destination } from '../../../adapters/settings-form'
import { canonicalHost } from '../../../core/net/host-name'
import type { FieldProblem } from '../../../core/problem'
import { Line } from '../../../core/shapes'

export const hostSetting = (description: string) =>
  Line({ ...destination, minLength: 1, maxLength: 253, description, examples: ['bmc-1.example.net'] })

export const portSetting = (port: number, description: string) =>
  Type.Optional(Type.Integer({ ...destination, minimum: 1, maximum: 65_535, default: port, description }))

/** @param host in the setting `host` */
export const hostProblems = ({ host }: { host: string }): FieldProblem[] =>
  canonicalHost(host) === null
    ? [{ pointer: '#/settings/host', code: 'format', detail: 'must be a hostname or an IP address.' }]
    : []
