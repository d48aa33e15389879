import { Type } from '@sinclair/typebox'
import { Words } from '../../core/shapes'
import { families } from './addresses'

export const Families = (description: string) =>
  Type.Array(Words(families), { minItems: 1, maxItems: families.length, uniqueItems: true, description })
