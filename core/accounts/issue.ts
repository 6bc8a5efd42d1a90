/** Issues tokens: an account's own one, and access tokens beside it. */
import { errors } from '../error.ts'
import { say } from '../say.ts'
import type { AccessTokenRecord, NewAccessToken } from './access-tokens.ts'
import { refuseOutdated } from './proof.ts'
import { highestScope, includes } from './scope.ts'
import { type Book, recordOf, write } from './state.ts'
import type { Proof } from './types.ts'

/** As `Accounts.token` says. */
export async function token(book: Book, id: number, proof?: Proof): Promise<string> {
  refuseOutdated(proof)
  return (
    book.tokens.show(id) ??
    write(book, () => {
      book.users.existing(id)
      refuseOutdated(proof)
      return book.tokens.make(id)
    })
  )
}

export const revokeToken = (book: Book, id: number): Promise<void> =>
  write(book, () => {
    book.users.existing(id)
    book.tokens.revoke(id)
  })

/** As `Accounts.addAccessToken` says. */
export const addAccessToken = (
  book: Book,
  id: number,
  asked: NewAccessToken,
): Promise<AccessTokenRecord & { token: string }> =>
  write(book, () => {
    const { is_staff, may_download } = recordOf(book, book.users.existing(id))
    const highest = highestScope({ isAdmin: is_staff, mayDownload: may_download })
    if (!includes(highest, asked.scope))
      throw errors.badRequest(say`This account may not have a token with the scope ${{ scope: asked.scope }}`, {
        fields: { scope: say`goes up to ${{ highest }} for this account` },
      })
    return book.accessTokens.make(id, asked)
  })
