/** The URL of another server that a person enters, such as that of a webhook, as routes take it. */
import { Type } from 'typebox'
import { errors } from '../../core/base/error.ts'

export const WebUrl = Type.String({ minLength: 1, maxLength: 2000 })

/**
 * Checks what a schema cannot express. Whether the server may be contacted is decided with each request (`app.fetch`).
 * @param field  the path of the URL in the body
 * @throws bad_request
 */
export function mustBeWebUrl(text: string, field = 'url'): void {
  if (!URL.canParse(text)) throw errors.wrongField(field, 'must be an address such as https://example.org/')
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:')
    throw errors.wrongField(field, 'must begin with https:// or http://')
  if (username !== '' || password !== '') throw errors.wrongField(field, 'must not contain a name or password')
}
