import type { Static, TSchema } from '@sinclair/typebox'
import type { Area } from '../permissions'

/** One kind of event, as the catalogue shows it. */
export interface EventKindEntry<K extends string = string, S extends TSchema = TSchema> {
  kind: K
  /** To choose the kind for an endpoint a caller needs read on this area. */
  area: Area
  title: string
  description: string
  /** False for the eight kinds of the public contract; true for ours beside them. Both are sent only where chosen by name. */
  extension: boolean
  /** Grows when `data` changes in a way an existing receiver could notice. */
  version: 1
  /** JSON Schema 2020-12 of the message's `data`. */
  data: S
  /** A `data` that meets the schema; also what a test message carries. */
  example: Static<S>
}

type Draft<K extends string, S extends TSchema> = Omit<EventKindEntry<K, S>, 'extension' | 'version'>

/** A kind of the public contract: its name, and what is already in its `data`, never change within /v1. */
export const contractKind = <const K extends string, S extends TSchema>(draft: Draft<K, S>): EventKindEntry<K, S> => ({
  ...draft,
  extension: false,
  version: 1,
})

/** A kind of ours beside the contract. */
export const extensionKind = <const K extends string, S extends TSchema>(draft: Draft<K, S>): EventKindEntry<K, S> => ({
  ...draft,
  extension: true,
  version: 1,
})
