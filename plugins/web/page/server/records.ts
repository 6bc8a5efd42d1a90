/** What the API sends, from the forms that its routes declare (contract 5). Types only: no code of a server comes along. */
import type { PageBlock, PreferenceValues, Static, TSchema } from 'archivolt'
import type { listPlaces, listTrash } from '../../../adoption/place-routes.ts'
import type { findLibraries, listAdoptionChannels, listAdoptions, listItems } from '../../../adoption/routes.ts'
import type { listBackups, previewRestore } from '../../../backup/routes.ts'
import type { listBin } from '../../../bin/routes.ts'
import type { listChannels } from '../../../channel/routes.ts'
import type { showCookie, validateCookie } from '../../../cookie/routes.ts'
import type { lookAtText } from '../../../download/look.ts'
import type { changeMany, listQueue } from '../../../download/routes.ts'
import type { previewExport, takeExport } from '../../../exports/routes.ts'
import type { listFaces, previewFace } from '../../../faces/routes.ts'
import type { listServers } from '../../../faces/servers/routes.ts'
import type { showLibrary } from '../../../library/routes.ts'
import type { listNotifications } from '../../../notification/routes.ts'
import type { showLink, showProvider } from '../../../oidc/routes.ts'
import type { resolveText, showPlatform } from '../../../platform/routes.ts'
import type { showCopy } from '../../../playable/copies/routes.ts'
import type { showPreviews } from '../../../playable/previews/routes.ts'
import type { listPlaylists } from '../../../playlist/routes.ts'
import type { listPages, listPlugins } from '../../../plugin/routes.ts'
import type { listFeeds } from '../../../podcast/routes.ts'
import type { changePicture } from '../../../portrait/routes.ts'
import type { search } from '../../../search/routes.ts'
import type { listSnapshots } from '../../../snapshot/routes.ts'
import type {
  biggestChannels,
  channelStats,
  growth,
  playlistStats,
  qualityStats,
  videoStats,
  watchStats,
} from '../../../stats/routes.ts'
import type { Take } from '../../../subscription/beginning.ts'
import type { subscribeChannels } from '../../../subscription/routes.ts'
import type { listNotifications as listOutgoing, listSchedules } from '../../../task/schedule-routes.ts'
import type { listTaskKinds, showTask, showTaskLog } from '../../../task/task-routes.ts'
import type { addAccessToken, listAccessTokens } from '../../../user/access-token-routes.ts'
import type { listUsers } from '../../../user/account-routes.ts'
import type { listOfDevice } from '../../../user/device-routes.ts'
import type { showForwarded } from '../../../user/forwarded-routes.ts'
import type { showSession } from '../../../user/own-session.ts'
import type { listOwnSessions } from '../../../user/own-session-routes.ts'
import type { describePreferences } from '../../../user/preference-routes.ts'
import type { showToken } from '../../../user/sign-in-routes.ts'
import type { beginTotp, enableTotp, showTotp } from '../../../user/totp-routes.ts'
import type { showOwnPreferences } from '../../../user/user-preferences.ts'
import type { listMonths, listVideos } from '../../../video/routes.ts'
import type { listDeliveries, listWebhooks } from '../../../webhooks/routes.ts'

type ReplyOf<Route extends { reply: TSchema }> = Static<Route['reply']>

export type { Comment } from '../../../video/comment-threads.ts'
/** By what a list of videos may be ordered; in an address `.asc` may follow. */
export type { SortName } from '../../../video/listing.ts'

export type Channel = ReplyOf<typeof listChannels>[number]
export type ChannelOverwrites = Channel['channel_overwrites']
/** Its channel is a whole record. */
export type Video = Omit<ReplyOf<typeof listVideos>[number], 'channel'> & { channel: Channel }
/** How many videos were published in each. */
export type Months = ReplyOf<typeof listMonths>
export type Stream = Video['streams'][number]
export type Segment = NonNullable<Video['sponsorblock']>['segments'][number]
/** Of a copy that plays. */
export type CopyState = ReplyOf<typeof showCopy>
/** Small pictures above the bar of the player. */
export type SeekPreviews = ReplyOf<typeof showPreviews>
/** Folders of other programs. */
export type Places = ReplyOf<typeof listPlaces>
export type Place = Places['places'][number]
export type Discarded = ReplyOf<typeof listTrash>[number]
export type Adoptions = ReplyOf<typeof listAdoptions>
export type FoundLibraries = ReplyOf<typeof findLibraries>
export type Adoption = Adoptions['adoptions'][number]
export type AdoptionChannel = ReplyOf<typeof listAdoptionChannels>[number]
export type AdoptionItem = ReplyOf<typeof listItems>[number]
export type Playlist = ReplyOf<typeof listPlaylists>[number]
export type PlaylistEntry = Playlist['playlist_entries'][number]
export type QueueItem = ReplyOf<typeof listQueue>
export type ErrorClass = NonNullable<QueueItem['error_class']>
export type Notification = ReplyOf<typeof listNotifications>[number]
export type TaskRecord = ReplyOf<typeof showTask>
/** Which tasks there are: what each does, whether it is started or scheduled. */
export type TaskKind = ReplyOf<typeof listTaskKinds>[number]
/** What a file of another program would subscribe to. */
export type ExportPreview = ReplyOf<typeof previewExport>
export type ExportTaken = ReplyOf<typeof takeExport>
export type PlatformState = ReplyOf<typeof showPlatform>
export type Health = PlatformState['health']
export type Schedule = ReplyOf<typeof listSchedules>[number]
/** URLs that are told of a task's end, by its name. */
export type Outgoing = ReplyOf<typeof listOutgoing>
export type Faces = ReplyOf<typeof listFaces>
export type Face = Faces['faces'][number]
export type FacePreview = ReplyOf<typeof previewFace>
export type MediaServer = ReplyOf<typeof listServers>[number]
export type Webhooks = ReplyOf<typeof listWebhooks>
export type Webhook = Webhooks['webhooks'][number]
export type Delivery = ReplyOf<typeof listDeliveries>[number]
export type UserPreferences = ReplyOf<typeof showOwnPreferences>
export type Account = ReplyOf<typeof listUsers>[number]
export type OwnPictureChosen = ReplyOf<typeof changePicture>
/** One that this device knows. */
export type DeviceAccount = ReplyOf<typeof listOfDevice>[number]
/** What is found; videos, channels and playlists are whole records. */
export type SearchResults = Omit<
  ReplyOf<typeof search>['results'],
  'video_results' | 'channel_results' | 'playlist_results'
> & { video_results: Video[]; channel_results: Channel[]; playlist_results: Playlist[] }
/** A line of a subtitle (contract 5.7). */
export type SubtitleHit = SearchResults['fulltext_results'][number]
/** What a pasted word is, by its form; of a channel also its handle. */
export type Target = ReplyOf<typeof resolveText>[number]
/** What the platform says of one. */
export type LinkLookup = ReplyOf<typeof lookAtText>

/** Who is signed in, and how they like the page. */
export type Session = ReplyOf<typeof showSession>
export type OwnSession = ReplyOf<typeof listOwnSessions>[number]
/** On a device where the account had not signed in before. */
export type NewSignIn = Session['attention']['sign_ins'][number]
export type TotpState = ReplyOf<typeof showTotp>
export type NewTotp = ReplyOf<typeof beginTotp>
export type RecoveryCodes = ReplyOf<typeof enableTotp>
export type AccessToken = ReplyOf<typeof listAccessTokens>[number]
export type NewAccessToken = ReplyOf<typeof addAccessToken>
/** Whom a proxy in front names. */
export type Forwarded = ReplyOf<typeof showForwarded>
/** By which people can sign in; null: there is none. */
export type ProviderName = ReplyOf<typeof showProvider>
export type ProviderLink = ReplyOf<typeof showLink>
export type TokenReply = ReplyOf<typeof showToken>
export type TaskLogLine = ReplyOf<typeof showTaskLog>[number]
export type QueueChanged = ReplyOf<typeof changeMany>
/** What a subscription started; `task_id` of null: there was nothing to ask the platform for. */
export type Begun = Pick<ReplyOf<typeof subscribeChannels>, 'task_id'>
/** Of what exists, so many of the newest, all, or nothing: how a subscription begins. */
export type { Take }
export type Library = ReplyOf<typeof showLibrary>
export type CookieStatus = ReplyOf<typeof showCookie>
export type CookieValidated = ReplyOf<typeof validateCookie>
export type Podcast = ReplyOf<typeof listFeeds>[number]
export type BinEntry = ReplyOf<typeof listBin>[number]
export type Backup = ReplyOf<typeof listBackups>[number]
export type RestorePreview = ReplyOf<typeof previewRestore>
export type Snapshots = ReplyOf<typeof listSnapshots>
export type Snapshot = Snapshots['snapshots'][number]
export type Plugin = ReplyOf<typeof listPlugins>[number]
/** A page that a plugin brings, and what it may ask. */
export type PluginPage = ReplyOf<typeof listPages>[number]
export type VideoStats = ReplyOf<typeof videoStats>
export type ChannelStats = ReplyOf<typeof channelStats>
export type PlaylistStats = ReplyOf<typeof playlistStats>
export type QualityStats = ReplyOf<typeof qualityStats>
export type WatchStats = ReplyOf<typeof watchStats>
export type BiggestChannel = ReplyOf<typeof biggestChannels>[number]
export type Growth = ReplyOf<typeof growth>

export type Paginate = PageBlock

export interface Page<Record> {
  data: Record[]
  paginate: Paginate
}

export interface Item<Record> {
  data: Record
}

/** The settings of the installation: `/api/config/`. */
export type Preferences = PreferenceValues
/** What they may be, by section. */
export type PreferencesSchema = ReplyOf<typeof describePreferences>
