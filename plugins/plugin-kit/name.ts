/** A name that a person gives to something, such as a webhook, as routes take it. */
import { Type } from 'typebox'
import { isBlank } from '../../core/base/blank.ts'
import { errors } from '../../core/base/error.ts'

export const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\p{C}]*$' })

/**
 * Checks what a schema cannot express: a name must have visible characters.
 * @param field  the path of the name in the body
 * @throws bad_request
 */
export function mustNotBeBlank(name: string, field = 'name'): void {
  if (isBlank(name)) throw errors.wrongField(field, 'must not be blank')
}
