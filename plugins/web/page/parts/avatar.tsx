/** The picture of an account: an uploaded one, or its initials on a color that is always the same for the account. */

import { toQuery } from '../server/api.ts'
import { under } from '../server/base.ts'
import { initialsOf } from './initials.ts'

/** Degrees between the colors of consecutive accounts, so that those of a family are easy to distinguish. */
const GOLDEN_ANGLE = 137.5

interface AvatarProps {
  of: { id: number; username: string; picture?: string | null }
  /** Who requests the picture: a signed-in user, or this device before the sign-in. */
  by?: 'user' | 'device'
  /** In pixels; default: given by the surrounding styles. */
  size?: number
}

export function Avatar({ of: { id, username, picture }, by = 'user', size }: AvatarProps) {
  const background = `oklch(0.45 0.12 ${(id * GOLDEN_ANGLE) % 360})`
  const own = size === undefined ? {} : { width: `${size}px`, height: `${size}px`, fontSize: `${size * 0.4}px` }
  return (
    <span class="portrait avatar" style={{ background, ...own }} aria-hidden="true">
      {initialsOf(username)}
      {picture && (
        <img src={under(`/api/${by}/${id}/picture/`) + toQuery({ version: picture })} alt="" decoding="async" />
      )}
    </span>
  )
}
