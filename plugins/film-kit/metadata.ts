/** Converts data from the files next to a film to metadata, checked like a reply of the platform. */
import { isAppError } from 'archivolt'
import type { Platform, VideoMetadata } from '../platform/types.ts'
import type { Info } from './types.ts'

/** @returns undefined: the file describes another video, or contains too little */
export function metadataIn(
  info: Info,
  id: string,
  { platform }: { platform: Pick<Platform, 'metadataOf' | 'failureOf'> },
): VideoMetadata | undefined {
  try {
    return platform.metadataOf(info, id)
  } catch (thrown) {
    if (!isAppError(thrown, 'unprocessable') && !platform.failureOf(thrown)) throw thrown
    return undefined
  }
}
