import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Line, Shape, Words } from '../core/shapes'

export const SignUpState = Shape(
  {
    mode: Words(['closed', 'invitation', 'open'], {
      description: 'Who may make a login: who the operator invited, who was invited by anybody, or anyone.',
    }),
    open: Type.Boolean({ description: 'Whether a sign-up is taken now: not before the first user was made by the setup link.' }),
  },
  { $id: 'SignUpState', description: 'Who may sign up.', examples: [{ mode: 'closed', open: false }] },
)
export const SignUp = Shape(
  {
    email: Type.String({ format: 'email', description: 'Login.' }),
    name: Line({ minLength: 1, maxLength: 100, description: 'Name of the person.' }),
    password: Type.String({ minLength: 10, maxLength: 1000, description: 'At least 10 characters.' }),
    workspace_name: Line({
      minLength: 1,
      maxLength: 100,
      description: 'Name of the workspace that is made; a number is put behind one that is taken.',
    }),
  },
  {
    $id: 'SignUp',
    description: 'A person who signs themself up.',
    examples: [{ email: 'grace@example.com', name: 'Grace', password: 'correct horse battery', workspace_name: 'acme' }],
  },
)
export const SignUpReceipt = Shape(
  {
    email: Type.String({ description: 'The login, in lower case.' }),
    sign_in_url: Type.String({ description: 'Where to sign in now.' }),
  },
  {
    $id: 'SignUpReceipt',
    description: 'A sign-up that was taken. It does not tell whether there was such a login before.',
    examples: [{ email: 'grace@example.com', sign_in_url: 'https://hub.example.com/login' }],
  },
)
export type SignUpState = Static<typeof SignUpState>
export type SignUp = Static<typeof SignUp>
export type SignUpReceipt = Static<typeof SignUpReceipt>
