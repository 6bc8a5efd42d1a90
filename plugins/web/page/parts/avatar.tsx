/**
 * The picture of an account: one of its own, or its first letters on a colour of its own, the same wherever it stands.
 */

import { toQuery } from '../server/api.ts'
import { under } from '../server/base.ts'
import { initialsOf } from './initials.ts'

/** Degrees between neighbours: so far apart that a family’s are told from each other. */
const GOLDEN_ANGLE = 137.5

interface AvatarProps {
  of: { id: number; username: string; picture?: string | null }
  /** Who asks for it: somebody who has signed in, or this device, where nobody has. */
  by?: 'user' | 'device'
  /** In pixels; left out: as its place says. */
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
