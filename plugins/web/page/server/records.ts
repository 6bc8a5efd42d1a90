/** What the API sends, as far as the page reads it (contract 5). */

export interface Channel {
  channel_id: string
  channel_name: string
  channel_subscribed: boolean
  channel_active: boolean
  channel_description: string
  channel_subs: number
  channel_views: number
  channel_tags: string[]
  channel_tabs: string[]
  channel_last_refresh: string
  channel_thumb_url: string
  channel_banner_url: string
  channel_tvart_url: string
  channel_overwrites: ChannelOverwrites
}

export interface ChannelOverwrites {
  download_format?: string
  autodelete_days?: number
  index_playlists?: boolean
  integrate_sponsorblock?: boolean
  subscriptions_channel_size?: number
  subscriptions_live_channel_size?: number
  subscriptions_shorts_channel_size?: number
}

export type VideoType = 'videos' | 'streams' | 'shorts'

export interface Stream {
  type: 'video' | 'audio'
  index: number
  codec: string
  bitrate: number
  width?: number
  height?: number
}

export interface Subtitle {
  lang: string
  name: string
  source: 'user' | 'auto' | 'file'
  media_url: string
}

export interface Segment {
  UUID: string
  actionType: string
  category: string
  segment: number[]
}

export interface Video {
  platform_id: string
  active: boolean
  title: string
  description: string
  category: string[]
  tags: string[]
  vid_type: VideoType
  published: string
  date_downloaded: number
  vid_last_refresh: string
  vid_thumb_url: string
  media_url: string
  media_size: number
  comment_count?: number
  channel: Channel
  playlist: string[]
  player: {
    watched: boolean
    watched_date?: number
    duration: number
    duration_str: string
    position: number
    progress: number
  }
  stats: { view_count: number; like_count: number; dislike_count: number; average_rating: number }
  streams: Stream[]
  subtitles: Subtitle[]
  sponsorblock?: { is_enabled: boolean; segments: Segment[] }
}

export interface PlaylistEntry {
  platform_id: string
  title: string
  uploader: string | null
  idx: number
  downloaded: boolean
}

export interface Playlist {
  playlist_id: string
  playlist_type: 'regular' | 'custom'
  playlist_name: string
  playlist_description: string
  playlist_channel: string | null
  playlist_channel_id: string | null
  playlist_subscribed: boolean
  playlist_active: boolean
  playlist_last_refresh: string
  playlist_thumbnail: string
  playlist_sort_order: 'top' | 'bottom'
  playlist_entries: PlaylistEntry[]
}

export type ErrorClass =
  | 'gone'
  | 'restricted'
  | 'login_required'
  | 'members_only'
  | 'age'
  | 'upcoming'
  | 'network'
  | 'unknown'

export interface QueueItem {
  platform_id: string
  status: 'pending' | 'ignore' | 'priority'
  auto_start: boolean
  error_class?: ErrorClass
  progress?: { fraction: number; speed?: number; eta?: number }
  message?: string
  retry_at?: number
  title: string
  channel_id: string
  channel_name: string
  channel_indexed: boolean
  duration: string
  published: string
  timestamp: number
  vid_type: VideoType | 'unknown'
  vid_thumb_url: string
}

export interface Comment {
  comment_id: string
  comment_text: string
  comment_timestamp: number
  comment_likecount: number
  comment_is_favorited: boolean
  comment_author: string
  comment_author_is_uploader: boolean
  comment_replies: Comment[]
}

export interface Notification {
  id: string
  title: string
  group: string
  api_start: boolean
  api_stop: boolean
  level: 'info' | 'error'
  command: false | 'STOP' | 'KILL'
  messages: string[]
  progress: number
}

export interface TaskRecord {
  task_id: string
  name: string
  status: 'PENDING' | 'RETRY' | 'SUCCESS' | 'FAILURE' | 'REVOKED' | 'FAILED'
  result: string | null
  date_done: string | null
  date_start: string | null
  command: false | 'STOP' | 'KILL'
}

export interface PlatformState {
  state: 'open' | 'paused' | 'blocked' | 'offline' | 'halted'
  reason: string
  since: number
  next_attempt: number
  waiting: Record<string, number>
  downloader: { version: string; channel: string }
  tools: Record<string, string>
  space: { media_free: number; media_total: number }
  missing: string[]
}

export interface Paginate {
  page_size: number
  page_from: number
  current_page: number
  max_hits: boolean
  last_page: number
  total_hits: number
}

export interface Page<Record> {
  data: Record[]
  paginate: Paginate
}

export interface Item<Record> {
  data: Record
}

export interface UserSettings {
  user_id: number
  page_size?: number
  sort_by?: string
  sort_order?: 'asc' | 'desc'
  hide_watched?: boolean
  view_style_home?: ViewStyle
  view_style_channel?: ViewStyle
  view_style_downloads?: ViewStyle
  view_style_playlist?: ViewStyle
}
export type ViewStyle = 'grid' | 'list'

export interface Account {
  id: number
  username: string
  is_staff: boolean
  is_active: boolean
  last_login: string | null
}

/** A line of a subtitle (contract 5.7). */
export interface SubtitleHit {
  platform_id: string
  title: string
  subtitle_fragment_id: string
  subtitle_line: string
  subtitle_start: string
  subtitle_channel: string
  subtitle_channel_id: string
  vid_thumb_url: string
}

/** What a pasted word is, by its form. */
export interface Target {
  type: 'video' | 'channel' | 'playlist'
  /** Of a channel also its handle. */
  id: string
  /** It is in the archive. */
  known: boolean
}

export interface Schedule {
  name: string
  schedule: string
  schedule_human: string
  last_run_at: string | null
  next_run_at: string | null
  config: Record<string, unknown>
}

/** What the page reads of `/api/config/`. */
export interface Preferences {
  subscriptions: { channel_size: number; live_channel_size: number; shorts_channel_size: number; auto_start: boolean }
  downloads: { format: string | false; autodelete_days: number | false; integrate_sponsorblock: boolean }
}
