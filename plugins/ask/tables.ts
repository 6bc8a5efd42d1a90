/** The tables of asks. */

export const askTables = {
  number: 1,
  sql: `
-- Times in epoch seconds. answer: null: nobody has answered.
CREATE TABLE ask_video (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  title TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  channel_name TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  answer TEXT CHECK (answer IN ('video', 'channel', 'no')),
  UNIQUE (user_id, video_id)
) STRICT;
-- The playlist with the single videos that an account was allowed.
CREATE TABLE ask_playlist (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
  playlist_id TEXT NOT NULL
) STRICT;
`,
}

export const askStates = {
  number: 2,
  sql: `
-- 1: allowed, and shown as soon as the video is in the archive.
ALTER TABLE ask_video ADD COLUMN is_due INTEGER NOT NULL DEFAULT 0;
-- 0: the account has not seen the answer yet.
ALTER TABLE ask_video ADD COLUMN is_seen INTEGER NOT NULL DEFAULT 1;
`,
}

export const ANSWERS = ['video', 'channel', 'no'] as const
export type Answer = (typeof ANSWERS)[number]

export interface Ask {
  id: number
  user_id: number
  video_id: string
  title: string
  channel_id: string
  channel_name: string
  asked_at: number
  answer: Answer | null
  is_due: number
  is_seen: number
}
