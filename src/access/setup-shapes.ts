import { Type } from '@sinclair/typebox'
import { Line, Shape } from '../core/shapes'

export const SetupState = Shape(
  { open: Type.Boolean({ description: 'Whether the first user is still to be made.' }) },
  { $id: 'SetupState', description: 'Whether setup is open.', examples: [{ open: true }] },
)
export const Setup = Shape(
  {
    token: Type.String({ maxLength: 200, description: 'From the setup link the hub prints at start.' }),
    email: Type.String({ format: 'email', description: 'Login of the owner.' }),
    password: Type.String({ minLength: 10, maxLength: 1000, description: 'At least 10 characters.' }),
    name: Line({ minLength: 1, maxLength: 100, description: 'Name of the owner.' }),
  },
  {
    $id: 'Setup',
    description: 'The first user.',
    examples: [{ token: 'mO1xqmA8…', email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }],
  },
)
