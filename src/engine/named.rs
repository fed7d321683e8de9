//! Things that a config calls by name.

/// One of several things with names.
pub trait Named: Copy + 'static {
    const ALL: &'static [Self];

    /// The name in a config.
    fn id(self) -> &'static str;

    /// What it is, in words.
    fn title(self) -> &'static str;
}

/// An enum of things with names: `One = "id": "title"`, or without a title.
#[macro_export]
macro_rules! named {
    (
        $(#[$about:meta])*
        pub enum $type:ident { $($(#[$meta:meta])* $one:ident = $id:literal $(: $title:literal)?,)+ }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$meta])* $one,)+
        }

        impl $crate::named::Named for $type {
            const ALL: &'static [Self] = &[$(Self::$one),+];

            fn id(self) -> &'static str {
                match self {
                    $(Self::$one => $id,)+
                }
            }

            fn title(self) -> &'static str {
                match self {
                    $(Self::$one => concat!("" $(, $title)?),)+
                }
            }
        }
    };
}
