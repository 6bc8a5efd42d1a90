/** An account as an actor, for work that it has not requested itself. */
import type { Actor } from '../../core/accounts/authentication.ts'

interface Account {
  id: number
  username: string
  is_staff: boolean
  may_download: boolean
}

/** The account with its rights, but without its view. */
export const actorOf = ({ id, username, is_staff: isAdmin, may_download: mayDownload }: Account): Actor => ({
  ...{ id, username, isAdmin, mayDownload },
  via: 'none',
})
