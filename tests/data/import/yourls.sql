-- MySQL dump 10.13  Distrib 8.0.36, for Linux (x86_64)
--
-- Host: localhost    Database: yourls
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;

DROP TABLE IF EXISTS `yourls_url`;
CREATE TABLE `yourls_url` (
  `keyword` varchar(100) COLLATE utf8mb4_bin NOT NULL DEFAULT '',
  `url` text COLLATE utf8mb4_bin NOT NULL,
  `title` text COLLATE utf8mb4_bin,
  `timestamp` timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP,
  `ip` varchar(41) COLLATE utf8mb4_bin NOT NULL,
  `clicks` int unsigned NOT NULL,
  PRIMARY KEY (`keyword`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin;

LOCK TABLES `yourls_url` WRITE;
INSERT INTO `yourls_url` VALUES ('ozh','https://ozh.org/','planetOzh \\ Ozh\'s blog','2024-05-01 10:00:00','192.0.2.1',48),('blog','https://blog.yourls.org/?a=1,2&b=(3);','YOURLS: \"Your Own\"','2024-05-01 10:00:00','192.0.2.1',7),('same','https://www.example.org/','https://www.example.org/','2024-05-01 10:00:00','192.0.2.1',0);
UNLOCK TABLES;
