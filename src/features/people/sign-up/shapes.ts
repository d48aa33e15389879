import { type Static, Type } from '@sinclair/typebox'
import { Line, Shape, Words } from '../../../core/shapes'
import { NewPassword } from '../shapes'

export const SignUpStatus = Shape(
  {
    mode: Words(['closed', 'invitation', 'open'], {
      description:
        'Who can create an account. `closed`: people invited by the operator. `invitation`: everyone who was invited. `open`: everyone.',
    }),
    open: Type.Boolean({
      description: 'Whether sign-up is currently possible. False until the first user is created with the setup link.',
    }),
  },
  { $id: 'SignUpStatus', description: 'Who can sign up.', examples: [{ mode: 'closed', open: false }] },
)
export const SignUpInput = Shape(
  {
    email: Type.String({ format: 'email', description: 'Email address.' }),
    name: Line({ minLength: 1, maxLength: 100, description: 'Name of the user.' }),
    password: NewPassword,
    workspace_name: Line({
      minLength: 1,
      maxLength: 100,
      description: 'Name of the new workspace; a number is appended if the name is taken.',
    }),
  },
  {
    $id: 'SignUpInput',
    description: 'A new user with their workspace.',
    examples: [{ email: 'grace@example.com', name: 'Grace', password: 'correct horse battery', workspace_name: 'acme' }],
  },
)
export const SignUpReceipt = Shape(
  {
    email: Type.String({ description: 'Email address, in lowercase.' }),
    sign_in_url: Type.String({ description: 'URL of the sign-in page.' }),
  },
  {
    $id: 'SignUpReceipt',
    description: 'A sign-up that was accepted. It does not reveal whether the email address already had an account.',
    examples: [{ email: 'grace@example.com', sign_in_url: 'https://hub.example.com/login' }],
  },
)
export type SignUpStatus = Static<typeof SignUpStatus>
export type SignUpInput = Static<typeof SignUpInput>
export type SignUpReceipt = Static<typeof SignUpReceipt>

export const SetupStatus = Shape(
  { open: Type.Boolean({ description: 'Whether the first user still has to be created.' }) },
  { $id: 'SetupStatus', description: 'Whether setup is open.', examples: [{ open: true }] },
)
export const SetupInput = Shape(
  {
    token: Type.String({
      maxLength: 200,
      description: 'Setup token: the part after `#` in the setup link, which the hub prints at startup. Not an API token.',
    }),
    email: Type.String({ format: 'email', description: 'Email address of the owner.' }),
    password: NewPassword,
    name: Line({ minLength: 1, maxLength: 100, description: 'Name of the owner.' }),
  },
  {
    $id: 'SetupInput',
    description: 'The first user to create.',
    examples: [{ token: 'mO1xqmA8…', email: 'ada@example.com', password: 'correct horse battery', name: 'Ada' }],
  },
)
