import type { Static, TSchema } from '@sinclair/typebox'
import type { Declared } from './declared'
import type { Area } from './permissions'

type Entry = Declared['eventKinds'][number]

/** The name of an event kind. */
export type EventKind = Entry['kind']

/** The `data` of a message of this kind. */
export type EventData<K extends EventKind = EventKind> = K extends EventKind ? Static<Extract<Entry, { kind: K }>['data']> : never

/** An event kind, as listed in the catalog. Declared in the `event-kinds.ts` of its feature. */
export interface EventKindEntry<K extends string = string, S extends TSchema = TSchema> {
  kind: K
  /** Subscribing an endpoint to this kind requires read permission on this area. */
  area: Area
  title: string
  description: string
  /** False for the eight core kinds, true for extensions. Both are only sent to endpoints that subscribe to them by name. */
  extension: boolean
  /** Incremented when `data` changes in a way that existing receivers may notice. */
  version: 1
  /** JSON Schema 2020-12 of the message's `data`. */
  data: S
  /** Example `data` that matches the schema; also sent in test messages. */
  example: Static<S>
}

type Draft<K extends string, S extends TSchema> = Omit<EventKindEntry<K, S>, 'extension' | 'version'>

/** A core kind. Its name and the existing fields of its `data` never change within /v1. */
export const coreKind = <const K extends string, S extends TSchema>(draft: Draft<K, S>): EventKindEntry<K, S> => ({
  ...draft,
  extension: false,
  version: 1,
})

/** An extension to the core kinds. */
export const extensionKind = <const K extends string, S extends TSchema>(draft: Draft<K, S>): EventKindEntry<K, S> => ({
  ...draft,
  extension: true,
  version: 1,
})
