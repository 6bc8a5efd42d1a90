/** The folders that a server keeps its files in: made and tried at the start, as a download would find out only after hours. */
import { access, constants, mkdir } from 'node:fs/promises'
import { StartError } from './error.ts'

export interface FolderOptions {
  /** The rights of one that is made: 0o700 for its owner's eyes only. */
  mode?: number
  /** The setting that says where it lies. */
  setting?: string
}

/**
 * @param name  what it is, for the sentence: 'library folder'
 * @throws StartError  names the folder, why it cannot be made or written, and what to do
 */
export async function openFolder(name: string, folder: string, { mode, setting }: FolderOptions = {}): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, ...(mode !== undefined && { mode }) })
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    const isTaken = code === 'EEXIST' || code === 'ENOTDIR'
    const remedy = [isTaken ? 'move it away' : 'correct its permissions', ...(setting === undefined ? [] : [`set ${setting}`])].join(', or ')
    throw new StartError(`The ${name} ${folder} cannot be made or written (${isTaken ? 'a file is in the way' : code}): ${remedy}`, { cause })
  }
}
